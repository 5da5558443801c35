"""What the options of the command line make of who may call."""

from pathlib import Path

import pytest

from ds4.config import Config, parse
from ds4.observe.records import Notice, Record
from ds4.wiring import access, tls


def config(*argv: str) -> Config:
    parsed = parse(argv)
    assert isinstance(parsed, Config)
    return parsed


def warnings(made: Config) -> list[str]:
    records: list[Record] = []
    access(made, records.append)
    return [record.text for record in records if isinstance(record, Notice) and record.level == "warning"]


def test_by_default_there_is_nothing_to_say() -> None:
    assert warnings(config()) == []
    made = access(config(), lambda record: None)  # noqa: ARG005
    assert not made.keys.locked
    assert not made.hosts.any_name
    assert not made.cors
    assert tls(config()) is None


def test_keys_from_both_places_open(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("from-file\n")
    file.chmod(0o600)
    made = config("--api-key", "from-line", "--api-key-file", str(file), "--cors", "--allow-host", "box")
    found = access(made, lambda record: None)  # noqa: ARG005
    assert found.keys.owner([(b"x-api-key", b"from-file")])
    assert found.keys.owner([(b"x-api-key", b"from-line")])
    assert found.cors
    assert found.hosts.names == {"box"}
    assert warnings(made) == []


def test_an_open_key_file_is_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("from-file\n")
    file.chmod(0o644)
    (warning,) = warnings(config("--api-key-file", str(file)))
    assert str(file) in warning
    assert "from-file" not in warning


def test_listening_beyond_this_machine_without_keys_is_a_warning() -> None:
    (warning,) = warnings(config("--host", "0.0.0.0"))
    assert "0.0.0.0 without API keys" in warning
    assert warnings(config("--host", "0.0.0.0", "--api-key", "k")) == []
    assert warnings(config("--host", "127.0.0.2")) == []


@pytest.mark.parametrize(
    ("argv", "any_name"),
    [
        (["--api-key", "k"], False),
        (["--host", "0.0.0.0"], False),
        (["--host", "0.0.0.0", "--api-key", "k"], True),
    ],
)
def test_any_name_passes_only_beyond_this_machine_and_with_keys(argv: list[str], any_name: bool) -> None:
    assert access(config(*argv), lambda record: None).hosts.any_name == any_name  # noqa: ARG005
