"""The sandbox that chat templates run in, with the helpers that real templates call.

One environment and one compiled template serve all threads; what belongs to a single render (its
budget, its guard) is kept per thread and set by `running`.
"""

import json
import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ds4.core.ports import Clock
from ds4.prompt.bounds import BOUNDED_OPERATORS, Budget
from ds4.prompt.guard import Guard

_BOUNDED = "_bounded"
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


class Refusal(jinja2.TemplateRuntimeError):
    """The template called raise_exception: it does not take this conversation."""


class GenerationBlock(Extension):
    """`{% generation %}` marks what to train on; for a prompt only its body matters."""

    tags = {"generation"}  # noqa: RUF012 (declared so by the base class)

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _Run(threading.local):
    budget: Budget
    json_forms: dict[bool, dict[int, str]]


class Sandbox(ImmutableSandboxedEnvironment):
    intercepted_binops = BOUNDED_OPERATORS

    def __init__(self, clock: Clock) -> None:
        super().__init__(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", GenerationBlock]
        )
        self._clock = clock
        self._run = _Run()
        self.globals.pop("lipsum")
        self.globals |= {"raise_exception": _raise_exception, "strftime_now": self._strftime_now}
        self.filters |= {"tojson": self._tojson, _BOUNDED: self._bounded}

    def template(self, source: str) -> jinja2.Template:
        """Compiles, with every loop counted. Raises jinja2.TemplateSyntaxError."""
        tree = self.parse(source)
        for loop in list(tree.find_all(nodes.For)):
            loop.iter = nodes.Filter(loop.iter, _BOUNDED, [], [], None, None, lineno=loop.lineno)
        return self.from_string(tree)

    @contextmanager
    def running(self, budget: Budget, guard: Guard) -> Iterator[None]:
        self._run.budget = budget
        self._run.json_forms = {flag: guard.json_forms(ascii_only=flag) for flag in (False, True)}
        try:
            yield
        finally:
            del self._run.budget, self._run.json_forms

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        __self._run.budget.step()
        return super().call(__context, __obj, *args, **kwargs)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ARG002
        return self._run.budget.binary(operator, left, right)

    def _bounded(self, items: Iterable[object]) -> Iterator[object]:
        budget = self._run.budget
        for item in items:
            budget.step()
            yield item

    def _strftime_now(self, pattern: str) -> str:
        return datetime.fromtimestamp(self._clock.wall()).strftime(pattern)

    def _tojson(
        self,
        value: object,
        ensure_ascii: bool = False,
        indent: int | str | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> str:
        """Unlike Jinja's own, without HTML escapes; like it, with every stand-in kept."""
        pair = (separators[0], separators[1]) if separators else None  # a template may give a list
        text = json.dumps(value, ensure_ascii=False, indent=indent, separators=pair, sort_keys=sort_keys)
        forms = self._run.json_forms[bool(ensure_ascii)]
        if ensure_ascii:
            return _NOT_ASCII.sub(lambda match: forms.get(ord(match[0])) or json.dumps(match[0])[1:-1], text)
        return text.translate(forms) if forms else text


def _raise_exception(message: object) -> NoReturn:
    raise Refusal(str(message))
