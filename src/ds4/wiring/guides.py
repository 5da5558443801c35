"""How answers are held to what their callers demand."""

from functools import lru_cache

from ds4.api.services import GuideFactory, Wished
from ds4.constrain.answer import grammar
from ds4.constrain.compiler import KEPT, Compiler
from ds4.constrain.grammar import Grammar
from ds4.constrain.style import Start, Style
from ds4.core.constraint import Constraint
from ds4.core.job import JobKind
from ds4.core.ports import Guide, Tokenizer
from ds4.formats.markup import ToolFormat
from ds4.formats.tools.hermes_json import HERMES_JSON
from ds4.observe.records import Notice, Observer
from ds4.wiring.answers import openings
from ds4.wiring.blueprint import AnswerStyle

PLAIN = HERMES_JSON
"""For raw completions: a format that puts nothing in front of a text."""
REMEMBERED = 256
LONGEST = 400
"""Characters of a line that names what is not enforced."""


def guides(
    style: AnswerStyle, tokenizer: Tokenizer, observe: Observer, *, prepared: bool = False
) -> GuideFactory:
    """`tokenizer` is asked for every piece it has, when the first guide is made or, `prepared`, now."""
    marks = style.marks
    compiler = Compiler(tokenizer, (*style.tools.spellings, marks.open, marks.close))
    if prepared:
        compiler.prepare()
    opened = openings(style, tokenizer)

    @lru_cache(KEPT)
    def written(constraint: Constraint, tools: ToolFormat, start: Start) -> Grammar:
        """Kept, too: the grammar of forty tools takes a tenth of a second."""
        return grammar(constraint, Style(marks, tools), start, compiler.words, compiler.can_end)

    @lru_cache(REMEMBERED)
    def tell(dropped: tuple[str, ...]) -> None:
        """Once, though an agent sends the same tools all day."""
        words = ", ".join(dropped)
        observe(Notice(f"not enforced in tools that are not strict: {words[:LONGEST]}"))

    def guide(wished: Wished) -> Guide | None:
        constraint = wished.constraint
        if constraint is None:
            return None
        raw = wished.kind is JobKind.COMPLETION
        start = Start() if raw else _start(style, wished, opened(wished.plan))
        made = written(constraint, PLAIN if raw else style.tools, start)
        if made.dropped:
            tell(made.dropped)
        return compiler.guide(made, _blamed(constraint), start.begun)

    return guide


def _start(style: AnswerStyle, wished: Wished, in_reasoning: bool) -> Start:
    """Where the prompt leaves it to the model, it may reason if it is told to. Unless told not to, it
    also may in a format with channels, and where only calls that it chooses to make are held to a form."""
    free = wished.constraint is None or wished.constraint.leaves_a_choice
    of_itself = style.tools.channels is not None or free
    may = wished.thinks is True or (of_itself and wished.thinks is not False)
    return Start(in_reasoning, may and not in_reasoning, wished.begun)


def _blamed(constraint: Constraint) -> str:
    """The request's field that a refusal of the whole names."""
    calls = constraint.calls
    if calls is None:
        return constraint.form.path if constraint.form else ""
    only = calls.tools[0] if len(calls.tools) == 1 else None
    path = "" if only is None else only.text.path if only.text else only.path
    return path or "tools"
