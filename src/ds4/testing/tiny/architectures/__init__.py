"""The tiny models there are, by the architecture's name in the file."""

from collections.abc import Mapping
from types import MappingProxyType

from ds4.testing.tiny.architecture import Architecture
from ds4.testing.tiny.architectures.deepseek import DEEPSEEK4, DEEPSEEK32
from ds4.testing.tiny.architectures.dense import GEMMA3, LLAMA
from ds4.testing.tiny.architectures.glm import GLM5_NEXT, GLM_DSA
from ds4.testing.tiny.architectures.qwen import QWEN4EXP, QWEN35MOE

_ALL = (LLAMA, GEMMA3, DEEPSEEK4, GLM_DSA, GLM5_NEXT, QWEN4EXP, QWEN35MOE, DEEPSEEK32)

ARCHITECTURES: Mapping[str, Architecture] = MappingProxyType({arch.name: arch for arch in _ALL})
