"""ChatML: plain, with Hermes tool calls; and as Qwen3.8 writes it, with reasoning and calls in its own tags.

    <|im_start|>assistant
    <think>
    reasoning
    </think>

    answer<|im_end|>

Reasoning stands only after the last question. Qwen3.8 always has the block there, since its prompts open
it; elsewhere it is the model's own choice.
"""

from dataclasses import dataclass

from ds4.core.messages import Role
from ds4.formats.tools.hermes_json import HERMES_JSON
from ds4.formats.tools.qwen_xml import QWEN_XML
from ds4.formats.written import Written
from ds4.prompt.layouts import hermes
from ds4.prompt.layouts.calls import write_calls
from ds4.prompt.layouts.chat import Chat, Entry, runs
from ds4.prompt.layouts.head import write_head
from ds4.prompt.layouts.writer import Writer

START, END = "<|im_start|>", "<|im_end|>\n"
THINK, END_THINK = "<think>\n", "\n</think>\n\n"


@dataclass(frozen=True, slots=True)
class Dialect:
    """`opens`: the prompt opens the reasoning block, or closes it at once where reasoning is off."""

    opens: bool
    written: Written


def write_chatml(chat: Chat, out: Writer) -> None:
    _write(chat, out, Dialect(opens=False, written=HERMES_JSON.written))


def write_qwen(chat: Chat, out: Writer) -> None:
    _write(chat, out, Dialect(opens=True, written=QWEN_XML.written))


def _write(chat: Chat, out: Writer, dialect: Dialect) -> None:
    if chat.lead or chat.tools:
        out.ours(f"{START}system\n")
        write_head(chat, out, chat.lead)
        out.ours(END)
    out.head_ends(len(chat.lead))
    for run in runs(chat.entries):
        out.turn_starts(run[0])
        _write_turn(chat, out, run, dialect)
        if not chat.open_ended(run[-1]):
            out.turn_ends(run[-1])
            out.ours(END)
    if chat.generates:
        out.answer_starts(chat.size)
        out.ours(f"{START}assistant\n")
        if dialect.opens:
            out.ours(THINK if chat.thinks else THINK + END_THINK)


def _write_turn(chat: Chat, out: Writer, run: tuple[Entry, ...], dialect: Dialect) -> None:
    entry = run[0]
    role = Role.USER if entry.role is Role.TOOL else entry.role
    out.ours(f"{START}{role.value}\n")
    match entry.role:
        case Role.TOOL:
            _write_results(out, run)
        case Role.ASSISTANT:
            if entry.index > chat.last_question:
                _write_reasoning(out, entry.reasoning if chat.thinks else "", dialect)
            out.client(entry.text)
            write_calls(out, entry.calls, dialect.written, entry.text)
        case _:
            out.client(entry.text)


def _write_results(out: Writer, run: tuple[Entry, ...]) -> None:
    for number, entry in enumerate(run):
        out.ours("\n" if number else "")
        hermes.write_result(out, entry.text)


def _write_reasoning(out: Writer, reasoning: str, dialect: Dialect) -> None:
    if dialect.opens or reasoning:
        out.ours(THINK)
        out.client(reasoning)
        out.ours(END_THINK)
