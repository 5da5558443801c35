"""Whose state is a snapshot: the model's own mark, its weights' mark, and the mark of a snapshot's layout.

Rules: what belongs to the model must be the same in all its quantisations, and what a quantiser adds or
changes (file type, provenance, chat template) must not count. All quantisers keep vectors, norms and expert
gates in full precision, so these tell fine-tunes apart. One that left all of them alone (a merged LoRA of a
dense model, mostly) differs in its name at best; within one quantisation, samples of the weights tell it
apart.
Only such tensors and the samples are read from the files.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from ds4.core.errors import ModelError
from ds4.core.step import Identity, SnapshotKind
from ds4.engine.llama.capi import Context, Gguf, TensorEntry, build, gguf_keys, gguf_value, opened, tensors
from ds4.engine.llama.files import reason
from ds4.engine.llama.snapshot import Portable

_TOKENIZER = ("model", "pre", "tokens", "token_type", "scores", "merges")
_COUNTED = ("general.architecture", "general.name", *(f"tokenizer.ggml.{name}" for name in _TOKENIZER))
"""Besides the architecture's own keys."""
_GATE = re.compile(r"ffn_gate_inp\.weight$")
_FULL_PRECISION = "f32"
_GATE_BYTES = 4096
_VECTOR_BYTES = 1 << 16
_SAMPLES, _SAMPLE_BYTES = 64, 256
_MODEL_BYTES, _QUANT_BYTES, _LAYOUT_BYTES = 16, 4, 8


@dataclass(frozen=True, slots=True)
class _Stored:
    """A tensor and the open file it is in."""

    entry: TensorEntry
    file: BinaryIO

    def read(self, start: int, size: int) -> bytes:
        self.file.seek(self.entry.start + start)
        return self.file.read(min(size, self.entry.size - start))


def identify(files: Sequence[Path], context: Context, portable: Portable, kv_type: str) -> Identity:
    """`files` are all parts of the model. Raises ModelError."""
    marks = read_marks(files)
    return Identity(marks.model, marks.quant, layout(portable, kv_type, context.rotated))


@dataclass(frozen=True, slots=True)
class Marks:
    """The parts of an Identity that the files alone decide."""

    model: str
    quant: str


def read_marks(files: Sequence[Path]) -> Marks:
    """Raises ModelError."""
    metadata: list[bytes] = []
    stored: list[_Stored] = []
    with ExitStack() as stack:
        for path in files:
            file = stack.enter_context(_open(path))
            with opened(path) as gguf:
                if path == files[0]:  # the other parts repeat nothing of it
                    metadata.extend(_metadata(gguf))
                stored += (_Stored(entry, file) for entry in tensors(gguf))
        stored.sort(key=lambda tensor: tensor.entry.name)
        try:
            return Marks(
                model=_digest([*metadata, *_model_parts(stored)], _MODEL_BYTES),
                quant=f"{_main_type(stored)} {_digest(_quant_parts(stored), _QUANT_BYTES)}",
            )
        except OSError as error:
            raise ModelError(f"{files[0]}: {reason(error)}") from error


def layout(portable: Portable, kv_type: str, rotated: str) -> str:
    """What two contexts must have in common for one to load the other's snapshots.

    The context's length, its step sizes, its threads and its devices do not matter; nor does the number of
    slots, except for a memory whose blobs are not understood.
    """
    words = [f"llama.cpp {build()}", f"k={kv_type} v={kv_type}"]
    if "1" in rotated:
        words.append(f"rotated={rotated}")
    whole, part = (portable.shapes.get(kind) for kind in SnapshotKind)
    if whole is None or part is None:
        words.append(f"slots={portable.streams}")
    else:
        words.append("fa=off" if whole.transposed else "fa=on")
        words.append(_digest([*whole.parts(), *part.parts()], _LAYOUT_BYTES))
    return " ".join(words)


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise ModelError(f"{path}: {reason(error)}") from error


def _model_parts(stored: Iterable[_Stored]) -> Iterator[bytes]:
    for tensor in stored:
        yield f"{tensor.entry.name} {tensor.entry.ne}".encode()
        yield _kept(tensor)


def _metadata(gguf: Gguf) -> Iterator[bytes]:
    arch = gguf.string("general.architecture") or ""
    numbers = gguf_keys(gguf)
    for key in sorted(numbers):
        if key.startswith(f"{arch}.") or key in _COUNTED:
            yield key.encode()
            yield from gguf_value(gguf, numbers[key])


def _kept(tensor: _Stored) -> bytes:
    """The bytes that every quantisation has, empty for what may be quantised."""
    entry = tensor.entry
    if entry.type != _FULL_PRECISION:
        return b""
    if len(entry.ne) == 1 or entry.name.endswith("_norm.weight"):
        return tensor.read(0, _VECTOR_BYTES)
    return tensor.read(0, _GATE_BYTES) if _GATE.search(entry.name) else b""


def _quant_parts(stored: Sequence[_Stored]) -> Iterator[bytes]:
    for tensor in stored:
        yield f"{tensor.entry.name} {tensor.entry.type}".encode()
    matrices = [tensor for tensor in stored if len(tensor.entry.ne) > 1]
    for tensor in matrices[:: -(-len(matrices) // _SAMPLES) or 1]:
        yield tensor.read(tensor.entry.size // 2, _SAMPLE_BYTES)


def _main_type(stored: Iterable[_Stored]) -> str:
    """The type of most bytes."""
    sizes: dict[str, int] = {}
    for tensor in stored:
        sizes[tensor.entry.type] = sizes.get(tensor.entry.type, 0) + tensor.entry.size
    return max(sizes, key=lambda kind: sizes[kind], default="empty").upper()


def _digest(parts: Iterable[bytes], size: int) -> str:
    digest = blake2b(digest_size=size)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()
