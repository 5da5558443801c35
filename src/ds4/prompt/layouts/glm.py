"""GLM 5.2 and 5.3.

    [gMASK]<sop><|system|>tools<|system|>text<|user|>question<|assistant|><think>reasoning</think>answer<|user|>...

Nothing ends a turn but the next marker. Reasoning before the last question is left out and leaves a lone
</think>. All results of a turn stand behind one <|observation|>.
"""

from ds4.core.messages import Role
from ds4.formats.tools.glm import GLM
from ds4.prompt.layouts.calls import write_calls
from ds4.prompt.layouts.chat import Chat, Entry, runs
from ds4.prompt.layouts.head import write_tools
from ds4.prompt.layouts.writer import Writer

SYSTEM, USER, ASSISTANT, OBSERVATION = "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>"
THINK, END_THINK = "<think>", "</think>"


def write_glm(chat: Chat, out: Writer) -> None:
    out.ours("[gMASK]<sop>")
    if chat.tools_first:
        _write_tools(chat, out, 0)
    for entry in chat.lead:
        _write_turn(out, entry, SYSTEM)
    if not chat.tools_first:
        _write_tools(chat, out, len(chat.lead))
    out.head_ends(len(chat.lead))
    _write_entries(chat, out)
    if chat.generates:
        out.answer_starts(chat.size)
        out.ours(ASSISTANT + (THINK if chat.thinks else END_THINK))


def _write_tools(chat: Chat, out: Writer, message: int) -> None:
    if chat.tools:
        out.ours(SYSTEM)
        write_tools(chat, out, message=message)


def _write_entries(chat: Chat, out: Writer) -> None:
    question = chat.last_question
    for run in runs(chat.entries):
        out.turn_starts(run[0])
        match run[0].role:
            case Role.ASSISTANT:
                _write_answer(out, run[0], with_reasoning=chat.thinks and run[0].index > question)
            case Role.TOOL:
                _write_results(out, run)
            case role:
                _write_turn(out, run[0], USER if role is Role.USER else SYSTEM)
        if not chat.open_ended(run[-1]):
            out.turn_ends(run[-1])


def _write_results(out: Writer, run: tuple[Entry, ...]) -> None:
    out.ours(OBSERVATION)
    for entry in run:
        out.ours("<tool_response>")
        out.client(entry.text)
        out.ours("</tool_response>")


def _write_turn(out: Writer, entry: Entry, marker: str) -> None:
    out.ours(marker)
    out.client(entry.text)


def _write_answer(out: Writer, entry: Entry, *, with_reasoning: bool) -> None:
    out.ours(ASSISTANT)
    if with_reasoning:
        out.ours(THINK)
        out.client(entry.reasoning)
    out.ours(END_THINK)
    out.client(entry.text)
    write_calls(out, entry.calls, GLM.written, entry.text)
