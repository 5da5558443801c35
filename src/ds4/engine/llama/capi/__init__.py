"""The only package that imports the binding.

Plain ints, bytes and numpy arrays go in and out; nothing above sees ctypes. Functions here check what
would otherwise end the process (llama.cpp aborts on many wrong arguments) and raise EngineError.
"""

from ds4.engine.llama.capi.abi import AbiDefaults, read_defaults
from ds4.engine.llama.capi.context import Context, ContextParams
from ds4.engine.llama.capi.devices import Device, list_backends, list_devices
from ds4.engine.llama.capi.discover import discover_tensors
from ds4.engine.llama.capi.gguf import Gguf, opened
from ds4.engine.llama.capi.gguf_raw import TensorEntry, gguf_keys, gguf_value, tensors
from ds4.engine.llama.capi.model import Model, ModelParams
from ds4.engine.llama.capi.native import build, supports_mlock, system_info, version
from ds4.engine.llama.capi.vocab import Vocab

__all__ = [
    "AbiDefaults",
    "Context",
    "ContextParams",
    "Device",
    "Gguf",
    "Model",
    "ModelParams",
    "TensorEntry",
    "Vocab",
    "build",
    "discover_tensors",
    "gguf_keys",
    "gguf_value",
    "list_backends",
    "list_devices",
    "opened",
    "read_defaults",
    "supports_mlock",
    "system_info",
    "tensors",
    "version",
]
