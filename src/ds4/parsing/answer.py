"""The reader of one chat answer: what it needs to know, and the row of decoders that follows."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ds4.core.messages import Tool
from ds4.core.ports import Ids, Reader
from ds4.formats.markup import Reasoning, ToolFormat
from ds4.parsing.assured import NOTHING, Assured
from ds4.parsing.calls import Calls
from ds4.parsing.controls import Controls
from ds4.parsing.markup import MarkupReader
from ds4.parsing.reader import Row
from ds4.parsing.schemas import Schemas
from ds4.parsing.stops import StopStrings
from ds4.parsing.table import table
from ds4.parsing.utf8 import Utf8
from ds4.parsing.walk import Walk


def _ignore(_: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class AnswerSpec:
    """`reasoning_open`: the prompt ends inside reasoning (see the function of that name).

    Without `tools` tool markup is text. `want_tokens`: each Text names the sampled tokens that
    begin in it. `remark` hears, on the engine thread, what was odd: a call that was none.
    """

    ids: Ids
    reasoning: Reasoning
    tool_format: ToolFormat
    reasoning_open: bool = False
    tools: tuple[Tool, ...] = ()
    stops: tuple[str, ...] = ()
    want_tokens: bool = False
    remark: Callable[[str], None] = _ignore
    assured: Assured = NOTHING


def answer_reader(spec: AnswerSpec) -> Reader:
    schemas = Schemas(spec.tools)
    places = table(spec.tool_format, spec.reasoning, has_tools=bool(spec.tools))
    start = places.opened if spec.reasoning_open else places.start
    calls = Calls(schemas, lambda: spec.ids.new("call_"))
    walk = Walk(places.spots, start, calls, schemas.names, spec.remark, spec.assured)
    return Row(
        (
            Utf8(want_tokens=spec.want_tokens, whole=spec.assured.wordless),
            Controls(markup=places.spellings),
            MarkupReader(walk),
            StopStrings(spec.stops),
        )
    )


def reasoning_open(prompt: str, marks: Reasoning, controls: Iterable[str] = ()) -> bool:
    """Whether a prompt ends inside reasoning: it has just opened it, or continues it.

    `prompt` is its end as the template wrote it, with no control spelling of the client's.

    `controls` are the vocabulary's control spellings: only what follows the last of them, with at
    most a role's name in between, is looked at for reasoning to be continued.
    """
    if prompt.rstrip().endswith(marks.open):
        return True
    inside = {marks.open, marks.close}
    begin = max((_end_of_last(prompt, control) for control in controls if control not in inside), default=0)
    # Step by step and not by one pattern: runs of blanks are the client's to choose, and `\s*\w*\s*` is
    # quadratic in them.
    behind_role = re.sub(r"^\w+", "", prompt[begin:].lstrip()).lstrip()
    return behind_role.startswith(marks.open) and marks.close not in behind_role


def _end_of_last(text: str, part: str) -> int:
    at = text.rfind(part)
    return at + len(part) if at >= 0 else 0
