"""Reading the weights once before they are mapped, so that the first requests do not wait for the disk."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ds4.core.errors import ModelError
from ds4.engine.llama.files import reason

BLOCK = 16 << 20
_GIB = 1 << 30


def warm(files: Sequence[Path], available: int | None) -> str:
    """Brings the files into the system's page cache; empty, or a sentence on why not.

    More than fits into `available` bytes would push out its own beginning. Raises ModelError when a file
    cannot be read.
    """
    size = sum(map(_size, files))
    if available is not None and size > available:
        return (
            f"--warm-weights: skipped, the weights take {size / _GIB:.2f} GiB "
            f"and {available / _GIB:.2f} GiB of memory are available"
        )
    block = memoryview(bytearray(BLOCK))
    for file in files:
        _read(file, block)
    return ""


def _size(file: Path) -> int:
    with _readable(file):
        return file.stat().st_size


def _read(file: Path, block: memoryview) -> None:
    with _readable(file), file.open("rb", buffering=0) as raw:
        while raw.readinto(block):
            pass


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ModelError(f"{file}: {reason(error)}") from error
