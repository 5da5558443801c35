"""Quantisations as file names spell them. Pure."""

import re

PREFERENCE = (
    *("Q4_K_M", "Q4_K_XL", "Q4_K_L", "Q4_K_S", "Q4_K", "MXFP4", "MXFP4_MOE"),
    *("IQ4_NL", "IQ4_XS", "Q4_0", "Q4_1", "Q4"),
    *("Q5_K_M", "Q5_K_XL", "Q5_K_L", "Q5_K_S", "Q5_K", "Q5_0", "Q5_1"),
    *("Q6_K", "Q6_K_L", "Q6_K_XL", "Q8_0", "Q8_K_XL", "Q8"),
    *("Q3_K_XL", "Q3_K_L", "Q3_K_M", "Q3_K_S", "Q3_K", "IQ3_M", "IQ3_S", "IQ3_XS", "IQ3_XXS"),
    *("Q2_K_XL", "Q2_K_L", "Q2_K", "IQ2_M", "IQ2_S", "IQ2_XS", "IQ2_XXS"),
    *("BF16", "F16", "FP16", "F32", "FP32"),
)
"""What to take when nobody chose: four bits are the usual trade, more bits are better than fewer."""

DYNAMIC = "UD-"
"""Marks a quantisation whose bits differ from layer to layer."""

_LABEL = re.compile(
    r"(?<![a-z0-9])(?:UD-)?(?:T?I?Q[1-8](?:_[a-z0-9]+)*|MXFP4(?:_MOE)?|NVFP4|BF16|FP?16|FP?32)(?![a-z0-9_])",
    re.IGNORECASE,
)


def label_in(name: str) -> str | None:
    """The last quantisation that a name spells, in capitals."""
    labels = _LABEL.findall(name)
    return labels[-1].upper() if labels else None


def spells(name: str, wanted: str) -> bool:
    """Does `wanted` stand in the name as a word of its own? `Q4_K` is no word of `Q4_K_M`."""
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", name, re.IGNORECASE) is not None


def rank(label: str | None) -> int | None:
    """The place in `PREFERENCE`, None outside of it."""
    plain = (label or "").removeprefix(DYNAMIC)
    return PREFERENCE.index(plain) if plain in PREFERENCE else None
