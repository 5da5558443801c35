"""Files made once per version of this package and of the loader, then reused.

Several test processes may want the same file at once. Each makes its own and renames it into place, so
a reader sees a whole file or none; the bytes are the same whoever wins. Files of older versions stay; the
folder may be deleted at any time.
"""

import hashlib
import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

_SOURCES = Path(__file__).parent


def default_folder() -> Path:
    """$DS4_TEST_CACHE, else `.cache/tiny` of the working directory."""
    return Path(os.environ.get("DS4_TEST_CACHE") or ".cache/tiny")


def generator_version(sources: Path = _SOURCES) -> str:
    """Changes with every source file of this package and with the loader, which lists the tensors."""
    digest = hashlib.sha256(version("llama-cpp-python").encode())
    for path in sorted(sources.rglob("*")):
        if path.suffix in {".py", ".jinja"}:
            digest.update(path.relative_to(sources).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def cached_file(path: Path, make: Callable[[Path], None]) -> Path:
    """`path`, made by `make(temporary path)` if it is not there yet."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=path.parent, prefix="making-") as folder:
            unfinished = Path(folder) / path.name
            make(unfinished)
            unfinished.replace(path)
    return path
