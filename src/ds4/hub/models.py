"""The files of a repository -> the models they make up. Pure."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from ds4.hub.quant import label_in

_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})")
_GGUF = ".gguf"
_WORD = re.compile(r"[a-z]+[0-9]*")
_COMPANIONS = {"mtp", "draft", "eagle", "eagle3"}


@dataclass(frozen=True, slots=True)
class HubFile:
    """`path` inside the repository, `size` in bytes; `sha256` when the hub keeps the file by its content."""

    path: str
    size: int
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class HubModel:
    """`name` is the path without ending and part number; `files` are its parts in order, `missing` the
    numbers of those that are not there."""

    name: str
    files: tuple[HubFile, ...]
    missing: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """The quantisation, or the whole name where it spells none."""
        return label_in(self.name) or self.name

    @property
    def projector(self) -> bool:
        """The image half of a model: no text comes out of it."""
        return "mmproj" in self.name.lower()

    def companion(self, repo: str) -> bool:
        """Made to help another model: drafts, and the statistics a quantiser works from. Words that the
        repository's own name has say nothing."""
        words = _words(self.name) - _words(repo)
        # Many a model says `imatrix` in its name because it was made with one: those spell their bits too.
        statistics = "imatrix" in words and not re.search(r"q\d|f16", self.name, re.IGNORECASE)
        return statistics or bool(words & _COMPANIONS)


def is_gguf(path: str) -> bool:
    """By its name; one that could not stand in a message or leads out of the folder is none."""
    plain = path.isprintable() and not {"", ".", ".."} & set(path.split("/"))
    return plain and path.lower().endswith(_GGUF)


def models_in(files: Iterable[HubFile]) -> tuple[HubModel, ...]:
    """In the order of their names. Files of other kinds are left out."""
    parts: dict[tuple[str, int], dict[int, HubFile]] = defaultdict(dict)
    for file in files:
        if is_gguf(file.path):
            name, number, count = _split(file.path)
            parts[name, count][number] = file
    return tuple(_model(name, count, found) for (name, count), found in sorted(parts.items()))


def _split(path: str) -> tuple[str, int, int]:
    """(name, number of the part, parts in all)."""
    stem = path[: -len(_GGUF)]
    part = _PART.fullmatch(stem)
    return (part["stem"], int(part["number"]), int(part["count"])) if part else (stem, 1, 1)


def _model(name: str, count: int, found: dict[int, HubFile]) -> HubModel:
    missing = tuple(number for number in range(1, count + 1) if number not in found)
    return HubModel(name, tuple(found[number] for number in sorted(found)), missing)


def _words(name: str) -> set[str]:
    return set(_WORD.findall(name.lower()))
