"""The package's front door: conversations and raw prompts in, plans out."""

from ds4.core.errors import BadRequest
from ds4.core.messages import Conversation
from ds4.core.plan import Boundary, BoundaryKind, PastTurn, PromptPlan
from ds4.core.ports import Clock, Tokenizer
from ds4.prompt.layouts.registry import layout_named
from ds4.prompt.layouts.source import LayoutSource
from ds4.prompt.options import PromptOptions
from ds4.prompt.raw import raw_plan
from ds4.prompt.rendered import Mark, Rendered, Source, Span
from ds4.prompt.segments import Rows, Segmenter, control_spellings
from ds4.prompt.templated import TemplateSource

MIN_BOUNDARY_CHARS = 1024
"""Below this, a prompt is computed sooner than a boundary is found."""


class PromptRenderer:
    """Thread safe; blocking, for worker threads."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        template: str,
        clock: Clock,
        *,
        bos_token: str = "",
        eos_token: str = "",
        options: PromptOptions = PromptOptions(),  # noqa: B008 (frozen)
        min_boundary_chars: int = MIN_BOUNDARY_CHARS,
    ) -> None:
        """`template` is the name of a built-in layout or Jinja source; the two tokens are the spellings
        that a template may ask for by name.

        Raises ModelError when the template does not compile.
        """
        self._tokenizer = tokenizer
        self._segmenter = Segmenter(tokenizer)
        self._min_boundary_chars = min_boundary_chars
        layout = layout_named(template)
        self._source: Source = (
            LayoutSource(layout, options)
            if layout
            else TemplateSource(
                template,
                clock,
                control_spellings(tokenizer),
                names={"bos_token": bos_token, "eos_token": eos_token},
                options=options,
                min_boundary_chars=min_boundary_chars,
            )
        )

    def render(self, conversation: Conversation) -> PromptPlan:
        """Client text never becomes a control token; a last assistant message is continued, not closed.

        Raises BadRequest on what the template refuses, TemplateError on what it fails at.
        """
        if not conversation.messages:
            raise BadRequest("messages must not be empty", param="messages")
        rendered = self._source.render(conversation)
        segments = self._segmenter.cut(rendered.guarded, rendered.text)
        rows = Rows(self._tokenizer, segments, rendered.text)
        return PromptPlan.of(
            (segment.tokens() for segment in segments),
            text=rendered.text,
            boundaries=self._boundaries(rendered, rows, len(conversation.messages)),
            namespace=conversation.namespace,
            turns=(_past_turn(span, rows) for span in rendered.turns),
        )

    def raw(self, prompt: str | tuple[int, ...], *, namespace: str = "") -> PromptPlan:
        """Without a template: control spellings in `prompt` are control tokens.

        Raises BadRequest on ids outside the vocabulary, and on an empty prompt without a BOS.
        """
        return raw_plan(self._tokenizer, prompt, namespace)

    def _boundaries(self, rendered: Rendered, rows: Rows, messages: int) -> list[Boundary]:
        is_short = len(rendered.text) < self._min_boundary_chars
        kept = [mark for mark in rendered.marks if _is_kept(mark, rows, is_short=is_short)]
        found = [Boundary(rows.before(mark.offset), mark.kind, mark.message) for mark in kept]
        return [b for b in found if b.row] + [Boundary(rows.total, BoundaryKind.PROMPT_END, messages)]


def _is_kept(mark: Mark, rows: Rows, *, is_short: bool) -> bool:
    match mark.kind:
        case BoundaryKind.ANSWER_START:
            return True
        case BoundaryKind.TURN_START:
            # A turn inside a run of plain text would cost an encoding each, and there may be hundreds.
            return not is_short and rows.is_edge(mark.offset)
        case _:
            return not is_short


def _past_turn(span: Span, rows: Rows) -> PastTurn:
    """One that cannot be cut out of the rows has no place there."""
    if span.start is None or span.end is None:
        return PastTurn(span.messages, rows.before(span.until), after=rows.before(span.after))
    if rows.is_edge(span.start) and rows.is_edge(span.end):
        end = rows.before(span.end)
        return PastTurn(span.messages, end, rows.before(span.start), end)
    return PastTurn(span.messages, 0)
