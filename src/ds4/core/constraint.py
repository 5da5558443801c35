"""What an answer must be, as the caller said it. `api/` writes it, `constrain/` carries it out."""

from dataclasses import dataclass
from enum import StrEnum

INPUT = "input"
"""The one parameter of a tool that takes text: the model knows it as a function."""


class Syntax(StrEnum):
    """The language a form is written in."""

    JSON_SCHEMA = "json_schema"
    LARK = "lark"
    REGEX = "regex"
    GBNF = "gbnf"


@dataclass(frozen=True, slots=True)
class Form:
    """`text` is a JSON schema as JSON, or a grammar. `path` is the request's field, for errors.

    A form is always a guarantee: what cannot be enforced is refused.
    """

    syntax: Syntax
    text: str
    path: str


@dataclass(frozen=True, slots=True)
class Signature:
    """A tool that may be called, under the name the model knows it by.

    `schema` is that of its arguments, as JSON; empty where the caller gave none. `strict`: a guarantee;
    otherwise keywords that cannot be enforced are dropped. `path` is the schema's field in the request.
    `text`: the tool has the one string parameter INPUT, and this is what it must match.
    """

    name: str
    schema: str = ""
    strict: bool = False
    path: str = ""
    text: Form | None = None


@dataclass(frozen=True, slots=True)
class Calls:
    """`required`: the answer is a call, or several. `single`: at most one."""

    tools: tuple[Signature, ...]
    required: bool = False
    single: bool = False


@dataclass(frozen=True, slots=True)
class Constraint:
    """Reasoning is exempt. With both, the answer has the form or it calls tools; `form` None and calls that
    are not required leave the text free. With neither it demands nothing and should not be made."""

    form: Form | None = None
    calls: Calls | None = None

    @property
    def leaves_a_choice(self) -> bool:
        """Whether the answer may be any text: only calls, if it makes some, are held to anything."""
        return self.form is None and not (self.calls and self.calls.required)
