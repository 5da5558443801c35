"""Certificates. Those in tests/api/tls are for localhost, for tests only, and run out in a hundred years."""

import ssl
from pathlib import Path

import pytest

from ds4.api.tls import server_context
from ds4.core.errors import StartError

FOLDER = Path(__file__).parent / "tls"
CERT, KEY = FOLDER / "cert.pem", FOLDER / "key.pem"


def error(cert: Path, key: Path) -> str:
    with pytest.raises(StartError) as caught:
        server_context(cert, key)
    assert caught.value.exit_code == 1
    assert "\n" not in caught.value.message
    return caught.value.message


def test_a_certificate_and_its_key() -> None:
    assert server_context(CERT, KEY).minimum_version == ssl.TLSVersion.TLSv1_2


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    gone = tmp_path / "gone.pem"
    assert error(gone, KEY) == f"--tls-cert {gone}: No such file or directory"
    assert error(CERT, gone) == f"--tls-key {gone}: No such file or directory"
    assert error(CERT, tmp_path) == f"--tls-key {tmp_path}: Is a directory"


def test_files_that_hold_something_else(tmp_path: Path) -> None:
    junk = tmp_path / "junk.pem"
    junk.write_text("junk")
    for cert, key in [(junk, KEY), (CERT, junk), (KEY, CERT)]:
        assert error(cert, key) == (
            f"--tls-cert {cert} and --tls-key {key} are not a certificate and its private key in PEM form"
        )


def test_another_certificates_key() -> None:
    other = FOLDER / "other.pem"
    assert error(CERT, other) == f"--tls-cert {CERT} and --tls-key {other} do not belong together"


def test_a_key_with_a_password_is_refused_and_nobody_is_asked() -> None:
    encrypted = FOLDER / "encrypted.pem"
    assert error(CERT, encrypted) == f"--tls-key {encrypted} is encrypted; give one without a password"
