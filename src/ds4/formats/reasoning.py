"""How reasoning is set off from the visible text.

<think>reasoning</think>text
"""

from ds4.formats.markup import Content, Means, Place, Reasoning, Tag

REASONING = "reasoning"
OPENED = "opened"
"""The prompt has opened the reasoning; the model may open it once more."""
UNOPENED = "unopened"
"""The prompt has not, the model may."""


THINK = Reasoning()
"""The marker touches the reasoning: every blank is the model's."""
THINK_LINES = Reasoning(after_open="\n", before_close="\n", after_close="\n\n")


def reasoning_places(reasoning: Reasoning, start: str) -> dict[str, Place]:
    """The places before the text, which begins at `start`; and the text that follows reasoning.

    Once text has begun, markers are text: only at an answer's very beginning may the model still
    open or close.
    """
    opens = Tag((reasoning.open,), Means.NOTHING, REASONING)
    closings = tuple(dict.fromkeys((reasoning.before_close + reasoning.close, reasoning.close)))
    after = "after_" + REASONING
    return {
        OPENED: Place(Content.SPACE, (opens,), otherwise=REASONING),
        UNOPENED: Place(
            Content.SPACE, (opens, Tag((reasoning.close,), Means.NOTHING, after)), otherwise=start
        ),
        REASONING: Place(
            Content.REASONING, (Tag(closings, Means.NOTHING, after),), skip=reasoning.after_open
        ),
        after: Place(Content.SPACE, skip=reasoning.after_close, otherwise=start),
    }
