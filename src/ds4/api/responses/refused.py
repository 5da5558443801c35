"""Fields that change the answer and are not implemented: refused by name."""

from collections.abc import Mapping

from ds4.api.openai.refused import Test


def _true(value: object) -> bool:
    return value is True


def _asked(value: object) -> bool:
    return bool(value)


def _several(value: object) -> bool:
    return value != 1


RESPONSES: Mapping[str, Test] = {
    "background": _true,
    "conversation": _asked,
    "prompt": _asked,
    "n": _several,
}
