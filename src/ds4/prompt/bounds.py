"""How much a template may do in one render. Templates are code from strangers.

Stopped: endless or nested loops and recursion (a step is counted per loop turn, call and output
chunk; the clock is read every few hundred steps), output beyond a limit, strings and lists grown by `+`
and `*`, big powers.
Not stopped: one single operation that is slow or large in itself, such as padding to a width of a
billion. That needs a process of its own with a memory limit.
"""

import operator
from collections.abc import Callable

import jinja2

from ds4.core.ports import Clock

_CLOCK_EVERY = 256
_MAX_BITS = 100_000

BOUNDED_OPERATORS = frozenset({"+", "*", "**"})
_OPERATORS: dict[str, Callable[[object, object], object]] = {
    "+": operator.add,
    "*": operator.mul,
    "**": operator.pow,
}


class OverBudget(jinja2.TemplateRuntimeError):
    pass


class Budget:
    """Belongs to one render on one thread. Limits in seconds, steps and characters."""

    def __init__(self, clock: Clock, *, seconds: float, steps: int, chars: int) -> None:
        self._clock = clock
        self._deadline = clock.now() + seconds
        self._seconds = seconds
        self._max_steps = steps
        self._max_chars = chars
        self._steps = 0
        self._written = 0

    def step(self) -> None:
        self._steps += 1
        if self._steps > self._max_steps:
            raise OverBudget(f"took more than {self._max_steps} steps")
        if self._steps % _CLOCK_EVERY == 0 and self._clock.now() > self._deadline:
            raise OverBudget(f"ran for more than {self._seconds:g} seconds")

    def write(self, chars: int) -> None:
        self.step()
        self._written += chars
        self.fits(self._written)

    def fits(self, size: int) -> None:
        if size > self._max_chars:
            raise OverBudget(f"made more than {self._max_chars} characters")

    def binary(self, symbol: str, left: object, right: object) -> object:
        """`left symbol right` for a symbol of BOUNDED_OPERATORS, refused when the result gets too large."""
        if symbol == "*":
            self.fits(max(_size(left) * _times(right), _size(right) * _times(left)))
        if symbol != "+" and isinstance(left, int) and isinstance(right, int):
            _check_number(symbol, left, right)
        result = _OPERATORS[symbol](left, right)
        self.fits(_size(result))
        return result


def _check_number(symbol: str, left: int, right: int) -> None:
    bits = left.bit_length() * right if symbol == "**" else left.bit_length() + right.bit_length()
    if bits > _MAX_BITS:
        raise OverBudget("computed too large a number")


def _size(value: object) -> int:
    return len(value) if isinstance(value, (str, list, tuple)) else 0


def _times(value: object) -> int:
    return value if isinstance(value, int) else 0
