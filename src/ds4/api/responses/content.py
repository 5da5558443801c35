"""The text of content: a string, a list of parts, or nothing."""

import orjson

from ds4.api.openai.messages import FILE_LEFT_OUT, IMAGE_LEFT_OUT, NO_IMAGES
from ds4.core.errors import BadRequest, Unsupported


def message_text(value: object, path: str, *, images: bool) -> tuple[str, ...]:
    """The texts of a message's parts. `images`: they may be there, and are left out with a word.

    Raises BadRequest on what a message cannot consist of, and on images that may not be there.
    """
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,) if value else ()
    if not isinstance(value, list):
        raise BadRequest(f"{path} must be a string, null or an array of parts", param=path)
    texts = [_part_text(part, f"{path}.{number}", images) for number, part in enumerate(value)]
    return tuple(text for text in texts if text)


def output_text(value: object, path: str) -> str:
    """What a tool answered. What is neither text nor parts is kept as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, str) or _is_part(part) for part in value):
        return "".join(message_text(value, path, images=True))
    return orjson.dumps(value).decode()


def _is_part(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def _part_text(part: object, path: str, images: bool) -> str:
    """Kinds nobody here knows keep their text, if they have any."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        raise BadRequest(f"{path} must be an object", param=path)
    match part.get("type"):
        case "input_image" | "image_url" | "image" | "computer_screenshot":
            if not images:
                raise BadRequest(NO_IMAGES, param=path)
            return IMAGE_LEFT_OUT
        case "input_audio":
            raise Unsupported(path, "is audio, which is not supported by this server")
        case "input_file":
            name = part.get("filename")
            return FILE_LEFT_OUT.format(name=f"{name} " if isinstance(name, str) and name else "")
        case "refusal":
            text = part.get("refusal")
        case _:
            text = part.get("text")
    return text if isinstance(text, str) else ""
