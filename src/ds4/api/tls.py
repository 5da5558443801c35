"""The certificate a server shows."""

import ssl
from pathlib import Path
from typing import NoReturn

from ds4.core.errors import StartError


def server_context(cert: Path, key: Path) -> ssl.SSLContext:
    """Both PEM; the certificate's chain may follow it. Raises StartError."""
    _check_readable("--tls-cert", cert)
    _check_readable("--tls-key", key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])

    def no_password() -> NoReturn:
        # Without this OpenSSL would ask on the terminal.
        raise StartError(f"--tls-key {key} is encrypted; give one without a password")

    try:
        context.load_cert_chain(cert, key, password=no_password)
    except ssl.SSLError as error:
        pair = f"--tls-cert {cert} and --tls-key {key}"
        if error.reason == "KEY_VALUES_MISMATCH":
            raise StartError(f"{pair} do not belong together") from None
        raise StartError(f"{pair} are not a certificate and its private key in PEM form") from None
    return context


def _check_readable(option: str, path: Path) -> None:
    try:
        path.open("rb").close()
    except OSError as error:
        raise StartError(f"{option} {path}: {error.strerror}") from None
