"""The system text, without the line that Claude Code puts at its head for its vendor's billing.

That line differs between the first prompt, side requests and compaction of one session, so whatever stands
behind it could never be reused (`ds4.api.normalise`).
"""

from dataclasses import dataclass

from ds4.api.anthropic.blocks import blocks_of, joined, text_of
from ds4.api.normalise import BILLING_HEADER, AsSent

_HEADER = "x-anthropic-billing-header:"


@dataclass(frozen=True, slots=True)
class SystemText:
    """`dropped`: a billing line was left out."""

    text: str
    dropped: bool = False


def system_text(value: object, as_sent: AsSent) -> SystemText:
    """From a string or blocks; empty without any. Raises BadRequest."""
    texts = [text_of(block) for block in blocks_of(value, "system")]
    if BILLING_HEADER.name in as_sent:
        return SystemText(joined(texts))
    kept = [_without_header(text) for text in texts]
    return SystemText(joined(kept), dropped=kept != texts)


def _without_header(text: str) -> str:
    return text.partition("\n")[2].lstrip("\n") if text.startswith(_HEADER) else text
