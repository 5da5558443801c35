"""Redacted traces: nobody's words, the same shape."""

import re
from pathlib import Path
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from ds4.observe.trace.reading import read_lines
from ds4.observe.trace.redact import placeholder, redacted, shape
from ds4.observe.trace.show import Reader

TRACES = Path(__file__).parents[2] / "traces"


@given(st.text())
def test_a_placeholder_has_the_length_and_no_words(text: str) -> None:
    shown = placeholder(text)
    assert len(shown) == len(text)
    assert set(re.findall(r"[^\W_]", shown)) <= {"x", "0"}
    assert placeholder(shown) == shown


def test_no_word_of_a_client_or_the_model_is_left() -> None:
    for line in read_lines(TRACES / "claude-code.jsonl.gz"):
        if line["at"] == "head":
            continue
        text = orjson.dumps(redacted(line)).decode()
        assert not re.search(r"consectetur|made\.txt|shell|Bash|claude|reminder", text), text[:300]


def test_everything_has_its_place_and_length() -> None:
    for line in read_lines(TRACES / "all-sorts.jsonl.gz"):
        if line["at"] != "head":
            clear, shown = line, orjson.loads(orjson.dumps(redacted(line)))
            assert _outline(shown) == _outline(clear)
            assert shape(shown) == shape(clear)


def _outline(value: object) -> object:
    """Names, lengths and numbers."""
    match value:
        case dict():
            return {name: _outline(item) for name, item in value.items()}
        case list():
            return [_outline(item) for item in value]
    return len(value) if isinstance(value, str) else value


def test_what_a_prompt_is_made_of_stays() -> None:
    origins = {
        item[0]
        for line in map(redacted, read_lines(TRACES / "claude-code.jsonl.gz"))
        if line["at"] == "job"
        for item in dict[str, Any](line)["items"]
    }
    assert origins == {"control", "plain"}


def test_decisions_and_counts_are_still_there() -> None:
    told = "\n".join(_shown("claude-code", redact=True))
    clear = "\n".join(_shown("claude-code", redact=False))
    for part in (
        "cache_source: live",
        "prompt_tokens: ",
        "finish: tool_calls",
        "saved",
        "--- generated text",
    ):
        assert (part in told) == (part in clear)
    assert "<｜User｜>" in told or "<｜Assistant｜>" in told


def _shown(name: str, *, redact: bool) -> list[str]:
    reader = Reader()
    lines = read_lines(TRACES / f"{name}.jsonl.gz")
    return [text for line in lines for text in reader.take(redacted(line) if redact else line)]
