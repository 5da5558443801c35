"""llama.cpp's state blobs: what they look like, whether one is whole, and free of slots and slot counts."""

from ds4.engine.llama.snapshot.portable import Portable
from ds4.engine.llama.snapshot.proof import find_portable

__all__ = ["Portable", "find_portable"]
