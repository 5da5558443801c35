"""Writes one tiny model file.

Nobody keeps a table of tensors: a file with metadata alone goes to the loader, which lists the tensors
it wants for these hyperparameters; those are then filled and written.
"""

import math
import os
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from gguf import GGUF_DEFAULT_ALIGNMENT, GGUFValueType, GGUFWriter

from ds4.engine.llama.capi import discover_tensors
from ds4.testing.tiny.architecture import Architecture, Array, FromVocabulary, Tensor, Value
from ds4.testing.tiny.tensors import file_tensors
from ds4.testing.tiny.vocabulary import Vocabulary, build
from ds4.testing.tiny.weights import Weights, random_weights

# A file without any tensor is not read at all.
_PLACEHOLDER = "placeholder"
_ALIGNMENT: int = GGUF_DEFAULT_ALIGNMENT


def write_model(arch: Architecture, merges: Sequence[str], path: Path) -> None:
    """Same arguments, same bytes."""
    vocabulary = build(arch.family, merges)
    listed = _listed_by_loader(arch, vocabulary)
    tensors = file_tensors(arch, len(vocabulary.tokens), listed)
    _write(path, arch, vocabulary, ((tensor.name, random_weights(arch, tensor)) for tensor in tensors))


def write_hollow(arch: Architecture, merges: Sequence[str], tensors: Sequence[Tensor], path: Path) -> None:
    """A file of any size that takes no disk: a whole header, and a hole for weights in half precision."""
    writer = _begin(path, arch, build(arch.family, merges))
    for tensor in tensors:
        size = 2 * math.prod(tensor.ne)
        writer.add_tensor_info(tensor.name, tensor.ne[::-1], np.dtype(np.float16), size)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    writer.close()
    os.truncate(path, _padded(path.stat().st_size) + sum(_padded(2 * math.prod(t.ne)) for t in tensors))


def _padded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _listed_by_loader(arch: Architecture, vocabulary: Vocabulary) -> list[Tensor]:
    with TemporaryDirectory(prefix="ds4-tiny-") as folder:
        path = Path(folder) / "metadata.gguf"
        _write(path, arch, vocabulary, [(arch.probe or _PLACEHOLDER, np.zeros(32, np.float32))])
        return [Tensor(name, tuple(ne)) for name, ne in discover_tensors(path)]


def _write(
    path: Path, arch: Architecture, vocabulary: Vocabulary, tensors: Iterable[tuple[str, Weights]]
) -> None:
    writer = _begin(path, arch, vocabulary)
    for name, data in tensors:
        writer.add_tensor(name, data)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _begin(path: Path, arch: Architecture, vocabulary: Vocabulary) -> GGUFWriter:
    writer = GGUFWriter(path, arch.name)
    writer.add_name(f"tiny-random-{arch.name}")
    _add_hyperparameters(writer, arch, vocabulary)
    _add_tokenizer(writer, arch, vocabulary)
    return writer


def _add_hyperparameters(writer: GGUFWriter, arch: Architecture, vocabulary: Vocabulary) -> None:
    keys: dict[str, Value] = dict(arch.keys)
    if arch.hash_layers:
        keys["hash_layer_count"] = arch.hash_layers
    for key, value in keys.items():
        _add_value(writer, f"{arch.name}.{key}", _resolved(value, arch, vocabulary))


def _resolved(value: Value, arch: Architecture, vocabulary: Vocabulary) -> bool | int | float | Array:
    match value:
        case FromVocabulary.SIZE:
            return len(vocabulary.tokens)
        case FromVocabulary.EOS:
            return vocabulary.id(arch.family.ends["eos"])
        case _:
            return value


def _add_value(writer: GGUFWriter, key: str, value: bool | int | float | Array) -> None:
    match value:
        case Array(width, items):
            writer.add_key_value(key, list(items), GGUFValueType.ARRAY, sub_type=GGUFValueType[width.value])
        case bool():
            writer.add_bool(key, value)
        case int():
            writer.add_uint32(key, value)
        case float():
            writer.add_float32(key, value)


def _add_tokenizer(writer: GGUFWriter, arch: Architecture, vocabulary: Vocabulary) -> None:
    family = arch.family
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(family.splitter)
    writer.add_token_list(vocabulary.tokens)
    writer.add_token_types([int(kind) for kind in vocabulary.kinds])
    writer.add_token_merges(vocabulary.merges)
    writer.add_add_bos_token(family.bos is not None)
    if family.bos is not None:
        writer.add_bos_token_id(vocabulary.id(family.bos))
    for role, spelling in family.ends.items():
        writer.add_uint32(f"tokenizer.ggml.{role}_token_id", vocabulary.id(spelling))
    writer.add_pad_token_id(vocabulary.id(family.ends["eos"]))
    writer.add_chat_template(_template(family.template))


def _template(name: str) -> str:
    return (files("ds4.testing.tiny") / "templates" / name).read_text(encoding="utf-8")
