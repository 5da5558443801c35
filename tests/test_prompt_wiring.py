"""Whose words the prompts hold is said at the start."""

from pathlib import Path

import pytest

from ds4.config import Config, parse
from ds4.core.errors import StartError
from ds4.formats.registry import family_named
from ds4.observe.records import Notice, Record
from ds4.wiring.prompts import prompt_options

DEEPSEEK = family_named("deepseek-v4")


def said(*options: str, template: str = DEEPSEEK.template) -> list[str]:
    config = parse(options)
    assert isinstance(config, Config)
    records: list[Record] = []
    prompt_options(config, DEEPSEEK, template, 4096, records.append)
    return [record.text for record in records if isinstance(record, Notice)]


def test_the_built_in_text_is_called_our_own() -> None:
    assert said() == ["prompts by the built-in layout deepseek-v4 (tools preamble: own text)"]


def test_a_files_own_template_needs_no_word() -> None:
    assert said(template="{{ messages }}") == []


def test_a_text_of_the_operators_is_named_with_its_origin(tmp_path: Path) -> None:
    file = tmp_path / "preamble.txt"
    file.write_text("Tools:\n{tool_schemas}\n")
    assert said("--tools-preamble", str(file)) == [f"tools preamble {file} (own text)"]


def test_a_text_that_cannot_be_read_names_its_option(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"--tools-preamble .*: No such file"):
        said("--tools-preamble", str(tmp_path / "missing"))
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(StartError, match=r"--think-max .*: not a UTF-8 text"):
        said("--think-max", str(tmp_path / "binary"))
