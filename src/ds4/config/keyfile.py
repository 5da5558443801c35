"""Reads a file of API keys."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from ds4.config.values import Secret, api_key
from ds4.core.errors import StartError


@dataclass(frozen=True, slots=True)
class KeyFile:
    """`exposed`: every user of this machine can read or change the file."""

    keys: tuple[Secret, ...]
    exposed: bool


def read_key_file(path: Path) -> KeyFile:
    """Raises StartError, which names the line but never what stands there."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            lines = file.read().removeprefix(b"\xef\xbb\xbf").splitlines()
    except OSError as error:
        raise StartError(f"--api-key-file {path}: {error.strerror}") from None
    keys = tuple(_key(path, number, line) for number, line in enumerate(lines, 1) if _holds_key(line))
    if not keys:
        raise StartError(f"--api-key-file {path} holds no key")
    return KeyFile(keys, exposed=bool(mode & (stat.S_IROTH | stat.S_IWOTH)))


def _holds_key(line: bytes) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith(b"#")


def _key(path: Path, number: int, line: bytes) -> Secret:
    try:
        return api_key(line.decode("ascii").strip())
    except ValueError:
        problem = "a key may hold only visible ASCII characters"
        raise StartError(f"--api-key-file {path}, line {number}: {problem}") from None
