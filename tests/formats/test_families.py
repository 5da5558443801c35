"""Family data and detection."""

import pytest

from ds4.core.errors import OptionError
from ds4.formats.family import Family
from ds4.formats.registry import FAMILIES, detect, family_named


@pytest.mark.parametrize(
    ("arch", "controls", "name"),
    [
        ("deepseek4", (), "deepseek-v4"),
        ("deepseek4", ("<｜System｜>",), "deepseek-v4.1"),
        ("glm-dsa", (), "glm-5.2"),
        ("glm5-next", (), "glm-5.3"),
        ("qwen4exp", ("<|im_start|>",), "qwen3.8"),
        ("llama", ("<|im_start|>", "<|im_end|>"), "chatml"),
        ("llama", ("<s>",), "generic"),
        ("nobody-knows", (), "generic"),
        ("", (), "generic"),
    ],
)
def test_detect(arch: str, controls: tuple[str, ...], name: str) -> None:
    assert detect(arch, controls).name == name


def test_every_family_is_found_by_its_name() -> None:
    assert [family_named(family.name) for family in FAMILIES] == list(FAMILIES)


def test_unknown_family_is_refused_with_the_known_ones() -> None:
    with pytest.raises(OptionError) as caught:
        family_named("deepseek-v5")
    assert "--model-family deepseek-v5" in caught.value.message
    assert all(family.name in caught.value.message for family in FAMILIES)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
def test_spellings_are_consistent(family: Family) -> None:
    assert len(set(family.spellings)) == len(family.spellings)
    assert all(family.spellings)
    ends = {family.bos, family.eos, *family.ends} - {None}
    assert ends <= set(family.control)


def test_quantum_and_aliases() -> None:
    quanta = {family.name: family.min_quantum for family in FAMILIES if family.min_quantum != 1}
    assert quanta == {"glm-5.3": 1024}
    # What the vendor's names say about reasoning, where they say anything.
    deepseek = {
        "deepseek-v4-flash": None,
        "deepseek-v4-pro": None,
        "deepseek-chat": False,
        "deepseek-reasoner": True,
    }
    aliases = {f.name: {alias.name: alias.thinking for alias in f.aliases} for f in FAMILIES if f.aliases}
    assert aliases == {"deepseek-v4": deepseek, "deepseek-v4.1": deepseek}
