"""What an option is, and how a field of Config carries one."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar, cast

T = TypeVar("T")
METADATA_KEY = "option"


class Topic(StrEnum):
    RUNTIME = "runtime"
    PROMPT = "prompt"
    SERVER = "server"
    ACCESS = "access"
    SCHEDULING = "scheduling"
    CACHE = "cache"
    BACKEND = "backend"
    SCRIPTED = "scripted"

    @property
    def heading(self) -> str:
        return _TITLES[self]


_TITLES = {
    Topic.RUNTIME: "the model and its limits",
    Topic.PROMPT: "how prompts are written and answers read",
    Topic.SERVER: "the HTTP server",
    Topic.ACCESS: "who may call: keys, web pages, TLS",
    Topic.SCHEDULING: "several requests at once",
    Topic.CACHE: "what is kept of prompts, in memory and on disk",
    Topic.BACKEND: "what computes, and how",
    Topic.SCRIPTED: "answers from a script, without a model",
}


@dataclass(frozen=True, slots=True)
class Option:
    """One row of the option table.

    `read` turns the value's text into the attribute's value and raises ValueError. Without a
    `metavar` the option takes no value. `shorthands` are value-less spellings: (name, value).
    `unset` says in words what happens when the option is not given and has no default to show.
    `many`: may be given several times; the attribute is a tuple of all values.
    `secret`: its value is never shown.
    `common` rows are in the default help.
    """

    names: tuple[str, ...]
    topic: Topic
    about: str
    metavar: str | None = None
    read: Callable[[str], object] = str
    default: object = None
    unset: str = ""
    shorthands: tuple[tuple[str, str], ...] = ()
    common: bool = False
    many: bool = False
    secret: bool = False
    attribute: str = ""

    @property
    def signature(self) -> str:
        return ", ".join(self.names) + (f" {self.metavar}" if self.metavar else "")

    @property
    def shown_default(self) -> str:
        if self.metavar is None:
            return "off"
        return self.unset or str(self.default)


def option(
    *names: str,
    topic: Topic,
    about: str,
    metavar: str,
    read: Callable[[str], T],
    default: T,
    shorthands: tuple[tuple[str, str], ...] = (),
    common: bool = False,
) -> T:
    """A field of Config that has a default and an option to change it."""
    row = Option(names, topic, about, metavar, read, default, shorthands=shorthands, common=common)
    return cast(T, _field(row))


def optional(
    *names: str,
    topic: Topic,
    about: str,
    metavar: str,
    read: Callable[[str], T],
    unset: str,
    common: bool = False,
) -> T | None:
    """A field of Config that is None unless its option is given."""
    return cast(T | None, _field(Option(names, topic, about, metavar, read, unset=unset, common=common)))


def repeated(
    *names: str,
    topic: Topic,
    about: str,
    metavar: str,
    read: Callable[[str], T],
    unset: str,
    secret: bool = False,
) -> tuple[T, ...]:
    """A field of Config that holds every value given, in order."""
    row = Option(names, topic, about, metavar, read, default=(), unset=unset, many=True, secret=secret)
    return cast(tuple[T, ...], _field(row))


def flag(*names: str, topic: Topic, about: str, common: bool = False) -> bool:
    """A field of Config that is False unless its option is given."""
    return cast(bool, _field(Option(names, topic, about, default=False, common=common)))


def _field(row: Option) -> object:
    # The dataclass decorator replaces this Field by an attribute of the declared type, hence the casts.
    return dataclasses.field(default=row.default, metadata={METADATA_KEY: row})


def options_of(config_class: type[Any]) -> tuple[Option, ...]:
    """The rows that a class's fields carry, by topic and then in order, each with its attribute's name."""
    rows = [
        dataclasses.replace(field.metadata[METADATA_KEY], attribute=field.name)
        for field in dataclasses.fields(config_class)
        if METADATA_KEY in field.metadata
    ]
    # Inherited fields come first in a dataclass, whatever they are about.
    return tuple(sorted(rows, key=lambda row: list(Topic).index(row.topic)))
