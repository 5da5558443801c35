"""The relay that drives of clients look through: it changes nothing, and sees every refusal."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from clients.watch import Watch, watched

from ds4.testing.process import server_process

pytestmark = [pytest.mark.server]

SCRIPT = "def reply(prompt):\n    return 'The rivers are Rhine and Main. ' * 200\n"
CHAT = "/v1/chat/completions"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("watched")
    (folder / "rivers.py").write_text(SCRIPT)
    with server_process(folder, "--engine", "scripted", "--script", "rivers.py") as server:
        yield server.url


def ask(connection: http.client.HTTPConnection, **fields: object) -> tuple[int, bytes]:
    body = json.dumps({"messages": [{"role": "user", "content": "Which rivers?"}], **fields})
    connection.request("POST", CHAT, body, {"content-type": "application/json"})
    answer = connection.getresponse()
    return answer.status, answer.read()


def seen(watch: Watch) -> list[tuple[str, int]]:
    return [(exchange.request, exchange.status) for exchange in watch.exchanges]


def test_every_answer_of_a_connection_is_noted(url: str) -> None:
    with watched(url) as watch:
        connection = http.client.HTTPConnection(watch.url.removeprefix("http://"))
        assert ask(connection)[0] == 200
        assert ask(connection, messages=[])[0] == 400
        streamed = ask(connection, stream=True)
        assert (streamed[0], streamed[1].count(b"data: ") > 100) == (200, True)
        connection.close()
        assert seen(watch) == [(f"POST {CHAT}", status) for status in (200, 400, 200)]
        (refused,) = watch.refused()
        assert "messages must not be empty" in refused.words()


def test_a_large_body_and_an_open_connection_do_no_harm(url: str) -> None:
    with watched(url) as watch:
        left_open = http.client.HTTPConnection(watch.url.removeprefix("http://"))
        assert ask(left_open, padding="x" * 500_000)[0] == 200
        assert seen(watch) == [(f"POST {CHAT}", 200)]
    left_open.close()
