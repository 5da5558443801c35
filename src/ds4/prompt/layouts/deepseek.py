"""DeepSeek V4 and V4.1.

    BOS tools, blank line, system text <｜User｜>question<｜Assistant｜><think>reasoning</think>answer EOS...

The order of things is that of the vendor's encoder, with these decisions:
- The tools stand before the system text (`tools_first`), for the sake of the cached prefix; the encoder
  puts them behind it.
- With tools in play all earlier reasoning is kept; without them only what follows the last user turn.
- A developer message is a system message, not a user turn that disappears later.
- Everything on the user's side between two answers is one turn, joined with blank lines: user texts,
  results in the order of their calls, and (V4) late system text, which has no marker of its own.
- A turn of calls is followed by a new marker also when the results are missing.
"""

from dataclasses import dataclass

from ds4.core.messages import Role
from ds4.formats.tools.dsml import DSML, DSML_V41
from ds4.formats.written import Written
from ds4.prompt.layouts.calls import write_calls
from ds4.prompt.layouts.chat import Chat, Entry
from ds4.prompt.layouts.dsml import write_result
from ds4.prompt.layouts.head import GAP, write_head
from ds4.prompt.layouts.writer import Writer

BOS, EOS = "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"
SYSTEM, USER, ASSISTANT = "<｜System｜>", "<｜User｜>", "<｜Assistant｜>"
THINK, END_THINK = "<think>", "</think>"


@dataclass(frozen=True, slots=True)
class Dialect:
    """`system_turns`: a system message that is not the very first is a turn of its own, with a marker.

    `dropped` stands where reasoning is left out.
    """

    written: Written
    system_turns: bool
    dropped: str

    @property
    def user_side(self) -> tuple[Role, ...]:
        return (Role.USER, Role.TOOL, Role.SYSTEM) if self.system_turns else (Role.USER, Role.TOOL)


DIALECT_V4 = Dialect(DSML.written, system_turns=False, dropped=END_THINK)
DIALECT_V41 = Dialect(DSML_V41.written, system_turns=True, dropped="")


def write_v4(chat: Chat, out: Writer) -> None:
    out.ours(BOS)
    if chat.thinks and chat.effort == "max":
        out.ours(chat.think_max)
    write_head(chat, out, chat.lead)
    out.head_ends(len(chat.lead))
    _Turns(chat, out, DIALECT_V4).write(chat.entries)


def write_v41(chat: Chat, out: Writer) -> None:
    out.ours(BOS)
    if chat.lead or chat.thinks or chat.tools:
        out.ours(SYSTEM)
    if chat.thinks:
        out.ours(
            f"Reasoning Effort: {chat.effort} (range 1-100, the higher the value, the more thorough the"
            " reasoning)\n\n"
        )
    write_head(chat, out, chat.lead[:1])
    out.head_ends(len(chat.lead[:1]))
    _Turns(chat, out, DIALECT_V41).write((*chat.lead[1:], *chat.entries))


class _Turns:
    """`_side` is whose turn is open: USER, SYSTEM, TOOL (results are awaited), or None."""

    def __init__(self, chat: Chat, out: Writer, dialect: Dialect) -> None:
        self._chat = chat
        self._out = out
        self._dialect = dialect
        self._side: Role | None = None
        # With tools in play nothing is old.
        self._old_before = -1 if chat.with_tools else chat.last(*dialect.user_side)

    def write(self, entries: tuple[Entry, ...]) -> None:
        for entry in entries:
            match entry.role:
                case Role.ASSISTANT:
                    self._answer(entry)
                case Role.SYSTEM:
                    self._system(entry)
                case _:
                    self._user_side(entry)
        if self._chat.generates:
            self._out.answer_starts(self._chat.size)
            self._out.ours(ASSISTANT + (THINK if self._chat.thinks else END_THINK))

    def _user_side(self, entry: Entry) -> None:
        if self._side is Role.USER:
            self._out.ours(GAP)
        else:
            self._begin(entry, Role.USER, USER)
        if entry.role is Role.TOOL:
            write_result(self._out, entry.text)
        else:
            self._out.client(entry.text)

    def _system(self, entry: Entry) -> None:
        if self._dialect.system_turns:
            self._begin(entry, Role.SYSTEM, SYSTEM)
        elif not entry.text:
            return
        elif self._side in (Role.USER, Role.SYSTEM):
            self._out.ours(GAP)
        else:
            self._begin(entry, Role.SYSTEM, "")
        self._out.client(entry.text)

    def _begin(self, entry: Entry, side: Role, marker: str) -> None:
        self._out.turn_starts(entry)
        self._out.ours(marker)
        self._side = side

    def _answer(self, entry: Entry) -> None:
        self._out.turn_starts(entry)
        if self._side is not None:
            self._out.ours(ASSISTANT)
            self._thoughts(entry)
        self._out.client(entry.text)
        write_calls(self._out, entry.calls, self._dialect.written, entry.text)
        if not self._chat.open_ended(entry):
            self._out.turn_ends(entry)
            self._out.ours(EOS)
        self._side = Role.TOOL if entry.calls else None

    def _thoughts(self, entry: Entry) -> None:
        if not self._chat.thinks:
            self._out.ours(END_THINK)
        elif entry.index > self._old_before:
            self._out.ours(THINK)
            self._out.client(entry.reasoning)
            self._out.ours(END_THINK)
        else:
            self._out.ours(self._dialect.dropped)
