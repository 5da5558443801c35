"""Which family a model belongs to."""

from collections.abc import Container

from ds4.core.errors import OptionError
from ds4.formats.chatml import CHATML
from ds4.formats.deepseek_v4 import DEEPSEEK_V4
from ds4.formats.deepseek_v41 import DEEPSEEK_V41
from ds4.formats.family import Family
from ds4.formats.generic import GENERIC
from ds4.formats.glm_52 import GLM_52
from ds4.formats.glm_53 import GLM_53
from ds4.formats.qwen38 import QWEN38

FAMILIES = (DEEPSEEK_V41, DEEPSEEK_V4, GLM_52, GLM_53, QWEN38, CHATML, GENERIC)
"""`detect` takes the first that fits: a family with a marker stands before the one it refines."""


def family_named(name: str) -> Family:
    """Raises OptionError naming the known families."""
    for family in FAMILIES:
        if family.name == name:
            return family
    known = ", ".join(sorted(family.name for family in FAMILIES))
    raise OptionError(f"--model-family {name}: no such family; known are {known}")


def detect(arch: str, controls: Container[str]) -> Family:
    """The family of a GGUF by its architecture and the special spellings of its vocabulary."""
    for family in FAMILIES:
        if arch in family.archs and (family.marker is None or family.marker in controls):
            return family
    return CHATML if "<|im_start|>" in controls else GENERIC
