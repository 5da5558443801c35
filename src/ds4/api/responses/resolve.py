"""The whole input of a request: what it goes on from, what it refers to, what it says itself."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import orjson

from ds4.api.body import JsonObject
from ds4.api.responses.history import kind_of
from ds4.api.responses.store import Item, ResponseStore
from ds4.core.errors import BadRequest

_PREFIXES = {
    "message": "msg_",
    "reasoning": "rs_",
    "function_call": "fc_",
    "function_call_output": "fco_",
    "custom_tool_call": "ctc_",
    "custom_tool_call_output": "ctco_",
}


@dataclass(frozen=True, slots=True)
class Shelf:
    """The caller's part of the store."""

    store: ResponseStore
    namespace: str


@dataclass(frozen=True, slots=True)
class Resolved:
    """`items` is everything in order: `earlier`, as it was kept, and then what is `new`. `lost` are the ids
    of items that are referred to and gone. `after` is the response that `earlier` ends with."""

    items: tuple[JsonObject, ...]
    earlier: tuple[Item, ...] = ()
    new: tuple[JsonObject, ...] = ()
    lost: tuple[str, ...] = ()
    after: str | None = None


def resolve(value: object, previous_id: str | None, shelf: Shelf) -> Resolved:
    """`value` is the request's input.

    Nothing but results of calls that a kept response made goes on from that response, as if it was named.
    A reference to what is gone is left out: reasoning and prefaces can be missed, and a missing call shows
    by its result. Raises BadRequest.
    """
    earlier = _earlier(previous_id, shelf)
    if value is None and not earlier:
        raise BadRequest("missing input", param="input")
    new: list[JsonObject] = []
    lost: list[str] = []
    for number, entry in enumerate(_entries(value)):
        item = _item(entry, f"input.{number}", shelf)
        if isinstance(item, str):
            lost.append(item)
        else:
            new.append(item)
    after = previous_id or _calling(new, shelf)
    if after and not previous_id:
        earlier = _earlier(after, shelf)
    return Resolved((*map(_read, earlier), *new), earlier, tuple(new), tuple(lost), after)


def kept(items: Iterable[JsonObject], new_id: Callable[[str], str]) -> tuple[Item, ...]:
    """Items as they are kept: messages have a status and parts, and what has no id gets one."""
    return tuple(_kept(item, new_id) for item in items)


def _calling(new: Sequence[JsonObject], shelf: Shelf) -> str | None:
    """The one response that all of `new` are results for. None if there is more to it."""
    ids = [item.get("call_id") for item in new if kind_of(item).endswith("_output")]
    known = [shelf.store.calling(shelf.namespace, one) for one in ids if isinstance(one, str)]
    same = len(known) == len(new) and len(set(known)) == 1
    return known[0] if same else None


def _earlier(previous_id: str | None, shelf: Shelf) -> tuple[Item, ...]:
    if not previous_id:
        return ()
    stored = shelf.store.get(shelf.namespace, previous_id)
    if stored is None:
        raise BadRequest(
            f"Previous response with id '{previous_id}' not found.",
            param="previous_response_id",
            code="previous_response_not_found",
        )
    return stored.history


def _entries(value: object) -> list[object]:
    if value is None:
        return []
    if isinstance(value, str):
        return [{"type": "message", "role": "user", "content": value}]
    if not isinstance(value, list):
        raise BadRequest("input must be a string or an array of items", param="input")
    return value


def _item(entry: object, path: str, shelf: Shelf) -> JsonObject | str:
    """The id of what is referred to, where it is gone."""
    if not isinstance(entry, dict):
        raise BadRequest(f"{path} must be an object", param=path)
    if kind_of(entry) != "item_reference":
        return entry
    item_id = entry.get("id")
    if not isinstance(item_id, str) or not item_id:
        raise BadRequest(f"missing {path}.id", param=f"{path}.id")
    found = shelf.store.item(shelf.namespace, item_id)
    return item_id if found is None else _read(found)


def _read(item: Item) -> JsonObject:
    # Only objects are kept.
    return cast(JsonObject, orjson.loads(item.json))


def _kept(item: JsonObject, new_id: Callable[[str], str]) -> Item:
    kind, given = kind_of(item), item.get("id")
    item_id = given if isinstance(given, str) and given else new_id(_PREFIXES.get(kind, "item_"))
    whole = {**item, "id": item_id, "type": kind}
    if kind == "message":
        whole |= {"status": "completed", "content": _parts(item)}
    return Item(item_id, orjson.dumps(whole))


def _parts(message: JsonObject) -> object:
    content = message.get("content")
    if not isinstance(content, str):
        return content
    if message.get("role") == "assistant":
        return [{"type": "output_text", "text": content, "annotations": []}]
    return [{"type": "input_text", "text": content}]
