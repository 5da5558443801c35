from pathlib import Path

import pytest

from ds4.config.keyfile import read_key_file
from ds4.core.errors import StartError


def write(folder: Path, data: bytes, mode: int = 0o600) -> Path:
    path = folder / "keys"
    path.write_bytes(data)
    path.chmod(mode)
    return path


def error(path: Path) -> str:
    with pytest.raises(StartError) as caught:
        read_key_file(path)
    assert caught.value.exit_code == 1
    return caught.value.message


@pytest.mark.parametrize(
    "data",
    [
        b"one\ntwo\n",
        b"# ours\none\n\n  # theirs\n two\t",
        b"\xef\xbb\xbfone\r\ntwo\r\n",
        "# Schlüssel\none\ntwo".encode(),
    ],
)
def test_one_key_a_line(tmp_path: Path, data: bytes) -> None:
    file = read_key_file(write(tmp_path, data))
    assert [key.text for key in file.keys] == ["one", "two"]
    assert "one" not in repr(file)


@pytest.mark.parametrize(
    ("mode", "exposed"), [(0o600, False), (0o400, False), (0o640, False), (0o644, True), (0o602, True)]
)
def test_a_file_for_everybody_is_noticed(tmp_path: Path, mode: int, exposed: bool) -> None:
    assert read_key_file(write(tmp_path, b"one", mode)).exposed == exposed


@pytest.mark.parametrize("data", [b"", b"\n \n", b"# one"])
def test_a_file_without_keys(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path, data)
    assert error(path) == f"--api-key-file {path} holds no key"


@pytest.mark.parametrize("bad", [b"secret key", b"secret\xff", "sécret".encode(), b"secret\x00"])
def test_a_bad_line_is_named_by_its_number(tmp_path: Path, bad: bytes) -> None:
    path = write(tmp_path, b"one\n" + bad)
    problem = "a key may hold only visible ASCII characters"
    assert error(path) == f"--api-key-file {path}, line 2: {problem}"


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    assert error(tmp_path / "gone") == f"--api-key-file {tmp_path / 'gone'}: No such file or directory"
    assert error(tmp_path) == f"--api-key-file {tmp_path}: Is a directory"
