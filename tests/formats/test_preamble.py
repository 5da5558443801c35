"""The words around the tools: whose they are, and how a file of them is read."""

import hashlib

import pytest

from ds4.core.errors import OptionError
from ds4.formats import preamble as texts
from ds4.formats.preamble import Preamble, TextOrigin, preamble_origin, read_preamble, think_max_origin

OURS = [texts.DSML, texts.DSML_SPACED, texts.GLM, texts.QWEN_XML, texts.HERMES_JSON]


def test_a_file_is_cut_at_the_schemas() -> None:
    assert read_preamble("before\n{tool_schemas}\nafter") == Preamble("before\n", "\nafter")


def test_the_placeholders_of_an_encoders_source_are_filled_in() -> None:
    text = "<{dsml_token}x> {thinking_start_token} {thinking_end_token} {other} {tool_schemas}"
    assert read_preamble(text).head == "<｜DSML｜x> <think> </think> {other} "


@pytest.mark.parametrize("text", ["", "no place", "{tool_schemas} twice {tool_schemas}"])
def test_the_schemas_have_one_place(text: str) -> None:
    with pytest.raises(OptionError, match="--tools-preamble"):
        read_preamble(text)


@pytest.mark.parametrize("ours", OURS, ids=lambda ours: ours.tail[-20:])
def test_the_built_in_words_are_our_own(ours: Preamble) -> None:
    assert preamble_origin(ours) is TextOrigin.OWN


def test_our_strongest_effort_text_is_our_own() -> None:
    assert think_max_origin(texts.THINK_MAX) is TextOrigin.OWN
    assert texts.THINK_MAX.endswith("\n\n")


def test_known_texts_are_told_by_their_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """The vendor's words are not in this repository, so others stand in for them here."""

    def known(text: str, origin: TextOrigin) -> dict[str, TextOrigin]:
        return {hashlib.sha256(text.encode()).hexdigest(): origin}

    monkeypatch.setattr(texts, "_HEADS", known("hé", TextOrigin.VENDOR) | known("d", TextOrigin.DS4))
    monkeypatch.setattr(texts, "_TAILS", known("ta", TextOrigin.VENDOR) | known("e", TextOrigin.DS4))
    monkeypatch.setattr(texts, "_THINK_MAX", known("max", TextOrigin.VENDOR))
    assert preamble_origin(Preamble("hé", "ta")) is TextOrigin.VENDOR
    assert preamble_origin(Preamble("d", "e")) is TextOrigin.DS4
    assert preamble_origin(Preamble("hé", "e")) is TextOrigin.OWN
    assert preamble_origin(Preamble("x", "ta")) is TextOrigin.OWN
    assert think_max_origin("max") is TextOrigin.VENDOR
    assert think_max_origin("max ") is TextOrigin.OWN
