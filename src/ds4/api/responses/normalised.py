"""The body of a response as it gets into the prompt (`ds4.api.normalise`). What is malformed is left to the
parser; what an earlier response brought was normalised with that one.
"""

from ds4.api.body import JsonObject
from ds4.api.normalise import CACHE_CONTROL, IDS, UNKNOWN_ITEMS, AsSent, Normalised, names, without_marks
from ds4.api.responses.history import call_id_of, is_call, is_known, kind_of

_REFERENCE = "item_reference"


def normalised(raw: JsonObject, as_sent: AsSent) -> Normalised:
    given = raw.get("input")
    items = given if isinstance(given, list) else []
    cleaned = [_unmarked(item, as_sent) if isinstance(item, dict) else item for item in items]
    body = _unmarked(raw, as_sent)
    marked = body is not raw or any(new is not old for new, old in zip(cleaned, items, strict=True))
    known = [item for item in items if isinstance(item, dict)]
    applied = (
        CACHE_CONTROL if marked and raw.get("tool_choice") != "none" else None,
        IDS if any(is_call(item) and not call_id_of(item) for item in known) else None,
        UNKNOWN_ITEMS if any(not is_known(item) and kind_of(item) != _REFERENCE for item in known) else None,
    )
    return Normalised({**body, "input": cleaned} if marked and items else body, names(applied))


def _unmarked(brings: JsonObject, as_sent: AsSent) -> JsonObject:
    """The request, or an item, with its tools."""
    tools = without_marks(brings.get("tools"), as_sent)
    return brings if tools is brings.get("tools") else {**brings, "tools": tools}
