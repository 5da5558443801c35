"""Cuts a model file in two, as large ones are published."""

from pathlib import Path

import pytest


def split(whole: Path, folder: Path) -> None:
    """Metadata and half of the tensors in one file, the other half in a second."""
    gguf = pytest.importorskip("gguf")
    reader = gguf.GGUFReader(whole)
    half = len(reader.tensors) // 2
    for number, tensors in enumerate((reader.tensors[:half], reader.tensors[half:])):
        writer = gguf.GGUFWriter(folder / f"m-{number + 1:05d}-of-00002.gguf", "llama")
        for field in reader.fields.values():
            if number == 0 and not field.name.startswith(("GGUF.", "general.architecture")):
                kind, sub = field.types[0], field.types[-1] if len(field.types) > 1 else None
                writer.add_key_value(field.name, field.contents(), kind, sub_type=sub)
        writer.add_uint16("split.no", number)
        writer.add_uint16("split.count", 2)
        writer.add_int32("split.tensors.count", len(reader.tensors))
        for tensor in tensors:
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
