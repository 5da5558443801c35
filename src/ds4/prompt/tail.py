"""The end of a prompt as its template wrote it."""

from ds4.core.plan import Origin, PromptPlan, Tokens
from ds4.core.ports import Tokenizer
from ds4.formats.spellings import Spellings

TAIL_ROWS = 1 << 14
"""Far more than a template writes behind the last turn."""
STAND_IN = "\N{REPLACEMENT CHARACTER}"


def guarded_tail(plan: PromptPlan, tokenizer: Tokenizer, spellings: Spellings) -> str:
    """The text of the last rows. Control spellings in it are control tokens: where client text spells
    one, a stand-in takes its place. `spellings` are those of the tokenizer's controls."""
    parts: list[str] = []
    rows = 0
    for item in reversed(plan.items):
        if rows >= TAIL_ROWS or not isinstance(item, Tokens):
            break
        text = _text(item, tokenizer)
        parts.append(text if item.origin is not Origin.PLAIN else _blanked(text, spellings))
        rows += len(item.ids)
    return "".join(reversed(parts))


def _text(item: Tokens, tokenizer: Tokenizer) -> str:
    return b"".join(map(tokenizer.piece, item.ids[-TAIL_ROWS:])).decode("utf-8", "replace")


def _blanked(text: str, spellings: Spellings) -> str:
    return "".join(STAND_IN if special else part for part, special in spellings.split(text))
