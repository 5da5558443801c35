"""What a GGUF says about its model, read without loading it."""

from dataclasses import dataclass
from pathlib import Path

from ds4.engine.llama.capi import Gguf, opened
from ds4.engine.llama.files import model_files

CONTROL, USER_DEFINED = 3, 4


@dataclass(frozen=True, slots=True)
class ModelHeader:
    """`tokens` are the vocabulary's spellings as stored, `token_types` the GGUF type of each.

    `bos` and `eos` are what templates print as `bos_token` and `eos_token`; empty without one.
    """

    arch: str
    name: str
    n_ctx_train: int
    chat_template: str | None
    tokens: tuple[str, ...]
    token_types: tuple[int, ...]
    bos: str = ""
    eos: str = ""

    @property
    def controls(self) -> tuple[str, ...]:
        """Spellings of the CONTROL and USER_DEFINED entries, in the order of their ids."""
        typed = zip(self.tokens, self.token_types, strict=False)
        return tuple(token for token, kind in typed if kind in (CONTROL, USER_DEFINED))


def read_model_header(path: Path) -> ModelHeader:
    """Raises ModelError with one sentence when a file is missing, cut or not a GGUF."""
    model_files(path)
    with opened(path) as gguf:
        return _header(gguf, path)


def _header(gguf: Gguf, path: Path) -> ModelHeader:
    arch = gguf.string("general.architecture") or ""
    tokens = gguf.strings("tokenizer.ggml.tokens")

    def spelling(key: str) -> str:
        token = gguf.integer(f"tokenizer.ggml.{key}")
        return tokens[token] if token is not None and 0 <= token < len(tokens) else ""

    return ModelHeader(
        arch=arch,
        name=gguf.string("general.name") or path.stem,
        n_ctx_train=gguf.integer(f"{arch}.context_length") or 0,
        chat_template=gguf.string("tokenizer.chat_template"),
        tokens=tokens,
        token_types=gguf.int32s("tokenizer.ggml.token_type"),
        bos=spelling("bos_token_id"),
        eos=spelling("eos_token_id"),
    )
