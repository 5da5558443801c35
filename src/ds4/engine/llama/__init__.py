"""The llama.cpp engine: `LlamaEngine.open(LlamaOptions(...))`."""

from ds4.engine.llama.engine import LlamaEngine
from ds4.engine.llama.header import ModelHeader, read_model_header
from ds4.engine.llama.options import BackendChoice, FlashAttention, KvType, LlamaOptions, check_options
from ds4.engine.llama.tokenizer import LlamaTokenizer

__all__ = [
    "BackendChoice",
    "FlashAttention",
    "KvType",
    "LlamaEngine",
    "LlamaOptions",
    "LlamaTokenizer",
    "ModelHeader",
    "check_options",
    "read_model_header",
]
