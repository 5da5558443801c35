"""Notebooks with a file, as the wiring makes them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ds4.kv.replay.database import FILE, Database
from ds4.kv.replay.disk_copy import DiskCopy
from ds4.kv.replay.memory import Bounds
from ds4.kv.replay.notebook import Notebook, Options
from ds4.observe.records import Observer
from ds4.testing.backend import ignore
from ds4.testing.clock import FakeClock

BOUNDS = Bounds()


def make_notebook(
    directory: Path,
    *,
    model: str = "m",
    bounds: Bounds = BOUNDS,
    observe: Observer = ignore,
    wall: float = 0.0,
) -> Notebook:
    """Its thread runs until it is closed. `wall`: seconds that went by before."""
    clock = FakeClock()
    clock.advance(wall)
    disk = DiskCopy(Database(directory / FILE, model, bounds, clock), observe)
    return Notebook(Options(bounds), clock, disk)


@contextmanager
def notebook_in(
    directory: Path,
    *,
    model: str = "m",
    bounds: Bounds = BOUNDS,
    observe: Observer = ignore,
    wall: float = 0.0,
) -> Iterator[Notebook]:
    notebook = make_notebook(directory, model=model, bounds=bounds, observe=observe, wall=wall)
    try:
        yield notebook
    finally:
        notebook.close()
