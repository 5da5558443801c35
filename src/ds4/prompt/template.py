"""One compiled chat template: variables in, text or a named failure out."""

from traceback import walk_tb

import jinja2

from ds4.core.errors import ModelError, TemplateError
from ds4.core.ports import Clock
from ds4.prompt.bounds import Budget, OverBudget
from ds4.prompt.environment import Refusal, Sandbox
from ds4.prompt.guard import Guard
from ds4.prompt.rendered import encodable

SECONDS = 10.0
STEPS = 10_000_000
MIN_CHARS = 4 << 20
CHARS_PER_INPUT_CHAR = 8

_FAILURES = (
    jinja2.TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What an expression over JSON-like values can raise. The template is data, so its faults are not ours."""


class Exhausted(TemplateError):
    """It went beyond its bounds; another try would cost as much again."""


class ChatTemplate:
    """Thread safe."""

    def __init__(self, source: str, clock: Clock) -> None:
        """Raises ModelError when the template does not compile."""
        self._clock = clock
        self._sandbox = Sandbox(clock)
        try:
            self._template = self._sandbox.template(source)
        except jinja2.TemplateSyntaxError as error:
            raise ModelError(f"the chat template is broken: line {error.lineno}: {error.message}") from error
        except (RecursionError, SyntaxError) as error:
            raise ModelError(f"the chat template cannot be compiled: {error}") from error

    def render(self, variables: dict[str, object], guard: Guard, input_chars: int) -> str:
        """The text, client characters still exchanged.

        `input_chars` is the size of the client's text, which bounds the output. Raises Refusal and
        TemplateError, both with the client's own characters in the message.
        """
        limit = MIN_CHARS + CHARS_PER_INPUT_CHAR * input_chars
        budget = Budget(self._clock, seconds=SECONDS, steps=STEPS, chars=limit)
        try:
            with self._sandbox.running(budget, guard):
                text = self._write(variables, budget)
        except Refusal as error:
            raise Refusal(guard.restore(str(error))) from error
        except OverBudget as error:
            raise Exhausted(_describe(error)) from error
        except _FAILURES as error:
            raise TemplateError(guard.restore(_describe(error))) from error
        return encodable(text)

    def _write(self, variables: dict[str, object], budget: Budget) -> str:
        chunks = []
        for chunk in self._template.generate(variables):
            budget.write(len(chunk))
            chunks.append(chunk)
        return "".join(chunks)


def _describe(error: BaseException) -> str:
    lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == "<template>"]
    place = f" at line {lines[-1]}" if lines else ""
    return f"the chat template failed{place}: {str(error) or type(error).__name__}"
