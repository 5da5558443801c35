"""A model's files: are they there, and whole? Every fault is one sentence with the file's name.

Checked before llama.cpp maps them: touching a page past the end of a cut file would kill the process.
"""

import re
from pathlib import Path

from ds4.core.errors import ModelError
from ds4.engine.llama.capi import opened

_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf")
_MAGIC = b"GGUF"


def model_files(path: Path) -> tuple[Path, ...]:
    """All parts of a model given by its only or first file. Raises ModelError unless all are whole."""
    part = _PART.fullmatch(path.name)
    if part and int(part["number"]) != 1:
        raise ModelError(f"{path}: a split model is given by its first part, {_part_name(part, 1)}")
    names = [_part_name(part, i + 1) for i in range(int(part["count"]))] if part else [path.name]
    files = tuple(path.with_name(name) for name in names)
    for file in files:
        _check(file)
    return files


def _part_name(part: re.Match[str], number: int) -> str:
    return f"{part['stem']}-{number:05d}-of-{part['count']}.gguf"


def _check(path: Path) -> None:
    size = _size_of(path)
    if _first_bytes(path) != _MAGIC:
        raise ModelError(f"{path}: this is not a GGUF file")
    with opened(path) as gguf:
        whole = gguf.data_end()
    if size < whole:
        raise ModelError(f"{path}: the file is truncated: it has {size} bytes and needs {whole}")


def _size_of(path: Path) -> int:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise ModelError(f"{path}: {reason(error)}") from error
    if not path.is_file():
        raise ModelError(f"{path}: this is not a file")
    if size == 0:
        raise ModelError(f"{path}: the file is empty")
    return size


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC))
    except OSError as error:
        raise ModelError(f"{path}: {reason(error)}") from error


def reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return (error.strerror or "the file cannot be read").lower()
