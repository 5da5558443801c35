"""Keys, names, pages and TLS, as the real process treats them."""

import http.client
import socket
import ssl
import subprocess
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest

from ds4.testing.process import ServerProcess, command, server_process

pytestmark = [pytest.mark.server]

KEY, OTHER = "sk-first-0123456789", "sk-second-0123456789"
TLS = Path(__file__).parents[1] / "api" / "tls"
SCRIPT = "def reply(prompt):\n    return 'The rivers are Rhine and Main.'\n"
PROMPT = "Name two rivers. " * 20


def scripted(folder: Path) -> list[str]:
    script = folder / "rivers.py"
    script.write_text(SCRIPT)
    return ["--engine", "scripted", "--script", str(script), "--batched-session", "2"]


def key_file(folder: Path, mode: int = 0o600) -> list[str]:
    path = folder / "keys"
    path.write_text(f"# second user\n{OTHER}\n")
    path.chmod(mode)
    return ["--api-key-file", str(path)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("locked")
    options = [*scripted(folder), "--api-key", KEY, *key_file(folder, 0o644)]
    with server_process(folder, *options) as running:
        yield running


def get(server: ServerProcess, path: str, **headers: str) -> int:
    address = urllib.parse.urlsplit(server.url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


def cached_tokens(server: ServerProcess, key: str) -> int:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0) as client:
        answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": PROMPT}])
        assert answer.usage is not None
        assert answer.usage.prompt_tokens_details is not None
        return answer.usage.prompt_tokens_details.cached_tokens or 0


def test_nobody_gets_what_another_caller_had_computed(server: ServerProcess) -> None:
    assert cached_tokens(server, KEY) == 0
    assert cached_tokens(server, OTHER) == 0
    assert cached_tokens(server, KEY) > 20
    assert cached_tokens(server, OTHER) > 20


def test_a_wrong_key_is_an_authentication_error_to_the_sdk(server: ServerProcess) -> None:
    with pytest.raises(openai.AuthenticationError, match="not one of this server's"):
        cached_tokens(server, "sk-wrong")


def test_no_key_reaches_the_log_but_the_open_file_does(server: ServerProcess) -> None:
    log = server.log.read_text()
    assert "keys is open to every user of this machine" in log
    assert not any(key in log for key in (KEY, OTHER, "sk-wrong"))


def test_probes_need_no_key_and_pages_do_not_get_in(server: ServerProcess) -> None:
    assert get(server, "/health") == get(server, "/ready") == 200
    assert get(server, "/v1/models") == 401
    assert get(server, "/health", Host="evil.example") == 403
    assert get(server, "/health", Origin="http://evil.example") == 403
    assert get(server, "/health", Origin=server.url) == 200


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /health HTTP/1.1", b"400"),
        (b"GET /health HTTP/1.1\r\nHost: ", b"400"),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost", b"400"),
        (b"GET /health HTTP/1.0", b"200"),
        (b"GET /health HTTP/1.1\r\nHost: localhost", b"200"),
    ],
)
def test_a_host_is_needed(server: ServerProcess, head: bytes, status: bytes) -> None:
    address = urllib.parse.urlsplit(server.url)
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=10) as client:
        client.sendall(head + b"\r\n\r\n")
        assert client.recv(1000).split()[1] == status


def test_https(tmp_path: Path) -> None:
    pair = ["--tls-cert", str(TLS / "cert.pem"), "--tls-key", str(TLS / "key.pem")]
    context = ssl.create_default_context(cafile=str(TLS / "cert.pem"))
    with server_process(tmp_path, *scripted(tmp_path), *pair, tls=context) as server:
        port = urllib.parse.urlsplit(server.url).port
        for host in ("localhost", "127.0.0.1"):
            connection = http.client.HTTPSConnection(host, port, timeout=10, context=context)
            connection.request("GET", "/v1/models", headers={"Origin": f"https://{host}:{port}"})
            assert connection.getresponse().status == 200
            connection.close()
        unencrypted = ServerProcess(server.url.replace("https:", "http:"), server.process, server.log)
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            get(unencrypted, "/health")
        log = server.log.read_text()
    assert f"listening on {server.url}" in log
    assert server.url.startswith("https://")
    assert "Traceback" not in log


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--api-key", f"{KEY} x"], 2, "invalid value for --api-key: it may hold only"),
        (["--api-key-file", "gone"], 1, "--api-key-file gone: No such file"),
        (["--api-key-file", "empty"], 1, "--api-key-file empty holds no key"),
        (["--tls-cert", "a.pem"], 2, "--tls-cert a.pem needs --tls-key"),
        (["--tls-cert", "gone.pem", "--tls-key", "gone.pem"], 1, "--tls-cert gone.pem: No such file"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(
    options: list[str], code: int, said: str, tmp_path: Path
) -> None:
    (tmp_path / "empty").touch()
    done = subprocess.run(
        command(*scripted(tmp_path), *options),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code
    assert said in done.stderr
    assert KEY not in done.stderr
    assert "Traceback" not in done.stderr
