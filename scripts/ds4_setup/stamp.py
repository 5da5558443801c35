"""What .venv holds, written as the last act of a set-up: no stamp means an unfinished one."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

NAME = "ds4-setup.json"


@dataclass(frozen=True, slots=True)
class Stamp:
    """`project` is a digest of pyproject.toml; `root` is where the clone lies, which .venv depends on."""

    python: str
    root: str
    project: str
    cmake_args: str
    backend: str
    extras: tuple[str, ...]

    def covers(self, wanted: "Stamp") -> bool:
        """Everything is as wanted; more extras than wanted do no harm."""
        same = replace(self, extras=wanted.extras) == wanted
        return same and set(wanted.extras) <= set(self.extras)


def read(venv: Path) -> Stamp | None:
    """None for a missing or unreadable stamp, also one of another version of these scripts."""
    try:
        fields = json.loads((venv / NAME).read_text())
        return Stamp(**{**fields, "extras": tuple(fields["extras"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(venv: Path, stamp: Stamp) -> None:
    (venv / NAME).write_text(json.dumps(asdict(stamp), indent=1))


def remove(venv: Path) -> None:
    (venv / NAME).unlink(missing_ok=True)
