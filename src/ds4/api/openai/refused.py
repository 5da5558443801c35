"""Fields that change the answer and are not implemented: refused by name, never skipped.

Every other unknown field is skipped, because agents do not survive a 400 on those.
"""

from collections.abc import Callable, Mapping

from ds4.core.errors import Unsupported

Test = Callable[[object], bool]


def _asked(value: object) -> bool:
    return bool(value)


def _given(value: object) -> bool:
    """Also when it is empty or 0."""
    return value is not False


def _beyond_text(value: object) -> bool:
    return value != ["text"]


CHAT: Mapping[str, Test] = {
    "modalities": _beyond_text,
    "audio": _asked,
    "web_search_options": _given,
    "prompt_logprobs": _given,
}
COMPLETIONS: Mapping[str, Test] = {
    "suffix": _asked,
    "prompt_logprobs": _given,
}


def refuse(body: Mapping[str, object], table: Mapping[str, Test]) -> None:
    """Raises Unsupported for the first field of `table` that `body` really uses."""
    for name, matters in table.items():
        value = body.get(name)
        if value is not None and matters(value):
            raise Unsupported(name)
