"""Content blocks as clients send them, and the text that each kind comes down to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ds4.core.errors import BadRequest


@dataclass(frozen=True, slots=True)
class Block:
    """`path` is where it stands in the request."""

    kind: str
    path: str
    fields: Mapping[str, object]

    def string(self, name: str) -> str:
        """Empty for what is missing or of another type."""
        value = self.fields.get(name)
        return value if isinstance(value, str) else ""

    def inner(self, name: str) -> tuple["Block", ...]:
        """The blocks inside it. Whatever is neither text nor blocks there has none."""
        value = self.fields.get(name)
        return blocks_of(value, f"{self.path}.{name}") if isinstance(value, str | list) else ()


def blocks_of(value: object, path: str) -> tuple[Block, ...]:
    """A string is one block of text, and null is none. Raises BadRequest."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (_text(value, path),)
    if not isinstance(value, list):
        raise BadRequest(f"{path} must be a string or an array of blocks", param=path)
    return tuple(_block(item, f"{path}.{number}") for number, item in enumerate(value))


def _block(item: object, path: str) -> Block:
    if isinstance(item, str):
        return _text(item, path)
    if not isinstance(item, dict):
        raise BadRequest(f"{path} must be an object", param=path)
    kind = item.get("type", "text")
    if not isinstance(kind, str):
        raise BadRequest(f"{path}.type must be a string", param=f"{path}.type")
    return Block(kind, path, item)


def _text(text: str, path: str) -> Block:
    return Block("text", path, {"text": text})


def joined(texts: Iterable[str]) -> str:
    """Blocks are lines of their own."""
    text = ""
    for piece in texts:
        if piece:
            text += ("\n" if text and not text.endswith("\n") else "") + piece
    return text


def text_of(block: Block) -> str:
    """Kinds nobody here knows keep whatever they say in words; what cannot be shown is named."""
    match block.kind:
        case "text":
            return block.string("text")
        case "image":
            return f"[image ({_media_type(block)}): it cannot be shown to this model]"
        case "document":
            return _document(block)
        case _:
            own = (block.string(name) for name in ("title", "source", "url", "text"))
            return joined((*own, *map(text_of, block.inner("content"))))


def _document(block: Block) -> str:
    about = (block.string("title"), block.string("context"))
    source = _source(block)
    match source.kind:
        case "text":
            return joined((*about, source.string("data")))
        case "content":
            return joined((*about, *map(text_of, source.inner("content"))))
        case _:
            return joined((*about, f"[document ({_media_type(block)}): it cannot be read here]"))


def _media_type(block: Block) -> str:
    source = _source(block)
    return source.string("media_type") or source.kind or "unknown"


def _source(block: Block) -> Block:
    path, source = f"{block.path}.source", block.fields.get("source")
    fields = source if isinstance(source, dict) else {}
    kind = fields.get("type")
    return Block(kind if isinstance(kind, str) else "", path, fields)
