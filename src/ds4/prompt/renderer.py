"""The package's front door: conversations and raw prompts in, plans out."""

from functools import partial

from ds4.core.errors import BadRequest
from ds4.core.messages import Conversation
from ds4.core.plan import Boundary, BoundaryKind, PromptPlan
from ds4.core.ports import Clock, Tokenizer
from ds4.prompt.boundaries import Mark, find_marks
from ds4.prompt.drafts import Draft, Drafter
from ds4.prompt.raw import raw_plan
from ds4.prompt.segments import Segment, Segmenter, control_spellings

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
        min_boundary_chars: int = MIN_BOUNDARY_CHARS,
    ) -> None:
        """`template` is Jinja source; the two tokens are the spellings it may ask for by name.

        Raises ModelError when the template does not compile.
        """
        self._tokenizer = tokenizer
        self._segmenter = Segmenter(tokenizer)
        self._min_boundary_chars = min_boundary_chars
        names = {"bos_token": bos_token, "eos_token": eos_token}
        self._drafter = Drafter(template, clock, control_spellings(tokenizer), names)

    def render(self, conversation: Conversation) -> PromptPlan:
        """Client text never becomes a control token; a last assistant message is continued, not closed.

        Raises BadRequest on what the template refuses, TemplateError on what it fails at.
        """
        if not conversation.messages:
            raise BadRequest("messages must not be empty", param="messages")
        draft = self._drafter.draft(conversation)
        text = draft.guard.restore(draft.text)
        segments = self._segmenter.cut(draft.text, text)
        return PromptPlan.of(
            (segment.tokens() for segment in segments),
            text=text,
            boundaries=self._boundaries(draft, text, segments),
            namespace=conversation.namespace,
        )

    def raw(self, prompt: str | tuple[int, ...], *, namespace: str = "") -> PromptPlan:
        """Without a template: control spellings in `prompt` are control tokens.

        Raises BadRequest on ids outside the vocabulary, and on an empty prompt without a BOS.
        """
        return raw_plan(self._tokenizer, prompt, namespace)

    def _boundaries(self, draft: Draft, text: str, segments: list[Segment]) -> list[Boundary]:
        found = [self._boundary(mark, draft, text, segments) for mark in self._marks(draft)]
        rows = sum(len(segment.ids) for segment in segments)
        return [b for b in found if b.row] + [Boundary(rows, BoundaryKind.PROMPT_END)]

    def _marks(self, draft: Draft) -> list[Mark]:
        if len(draft.text) < self._min_boundary_chars:
            return []
        render = partial(self._drafter.again, draft)
        return find_marks(
            draft.text, draft.messages, bool(draft.values["tools"]), draft.guard.sentinel, render
        )

    def _boundary(self, mark: Mark, draft: Draft, text: str, segments: list[Segment]) -> Boundary:
        row = self._segmenter.row_at(segments, text, mark.offset)
        return Boundary(row, mark.kind, mark.message if draft.as_sent else None)
