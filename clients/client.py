"""What a client is, and what one drive of it needs. Values only."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal


class Api(StrEnum):
    CHAT = "chat"
    RESPONSES = "responses"
    MESSAGES = "messages"


@dataclass(frozen=True, slots=True)
class Packages:
    """Pinned, from one registry, in a folder of their own."""

    folder: str
    registry: Literal["npm", "pip"]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Installed:
    """`programs` is where the packages' commands lie, `node` the Node.js to run JavaScript with."""

    folder: Path
    programs: Path
    node: Path

    def program(self, name: str) -> str:
        return str(self.programs / name)


@dataclass(frozen=True, slots=True)
class Job:
    """One drive. `url` ends without a slash and without /v1; `context` and `output` count tokens."""

    installed: Installed
    url: str
    api: Api
    model: str
    context: int
    output: int
    prompt: str


@dataclass(frozen=True, slots=True)
class Command:
    """`files` are the texts of settings, by path below HOME."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


def silent(output: str) -> str | None:  # noqa: ARG001
    """For clients that tell a failure by their exit code."""
    return None


@dataclass(frozen=True, slots=True)
class Client:
    """`complaint` reads in the standard output what the client itself calls a failure; None for nothing.

    `asks` is the model's name in its requests: some clients know names and behave accordingly.
    """

    name: str
    packages: Packages
    apis: tuple[Api, ...]
    command: Callable[[Job], Command]
    complaint: Callable[[str], str | None] = silent
    asks: str = "local"
