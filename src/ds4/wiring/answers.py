"""How answers are read."""

from collections.abc import Callable

from ds4.api.services import ReaderFactory, Wished
from ds4.core.constraint import Constraint
from ds4.core.job import JobKind
from ds4.core.plan import PromptPlan
from ds4.core.ports import Ids, Reader, Tokenizer
from ds4.formats.spellings import Spellings
from ds4.observe.records import Notice, Observer
from ds4.parsing.answer import AnswerSpec, answer_reader, reasoning_open
from ds4.parsing.assured import NOTHING, Assured
from ds4.parsing.reader import text_reader
from ds4.prompt.tail import guarded_tail
from ds4.wiring.blueprint import AnswerStyle


def readers(style: AnswerStyle, tokenizer: Tokenizer, ids: Ids, observe: Observer) -> ReaderFactory:
    """Raw completions are read as they are, chat answers by the model's own format."""

    opened = openings(style, tokenizer)

    def warn(remark: str) -> None:
        observe(Notice(remark, "warning"))

    def reader(wished: Wished) -> Reader:
        if wished.kind is JobKind.COMPLETION:
            # Its text is the caller's whole affair, control tokens included.
            return text_reader(wished.stops, want_tokens=wished.tokens, show_control=True)
        return answer_reader(
            AnswerSpec(
                ids=ids,
                reasoning=style.reasoning,
                tool_format=style.tools,
                reasoning_open=opened(wished.plan),
                tools=wished.tools,
                stops=wished.stops,
                want_tokens=wished.tokens,
                remark=warn,
                assured=_assured(wished.constraint),
            )
        )

    return reader


def _assured(constraint: Constraint | None) -> Assured:
    if constraint is None:
        return NOTHING
    calls = constraint.calls
    return Assured(
        sound=True,
        wordless=calls is not None and calls.required,
        formed=constraint.form is not None,
    )


def openings(style: AnswerStyle, tokenizer: Tokenizer) -> Callable[[PromptPlan], bool]:
    """Whether an answer begins inside reasoning, by the end of its prompt."""
    spellings = Spellings(tokenizer.controls)

    def opened(plan: PromptPlan) -> bool:
        tail = guarded_tail(plan, tokenizer, spellings)
        return reasoning_open(tail, style.marks, tokenizer.controls)

    return opened
