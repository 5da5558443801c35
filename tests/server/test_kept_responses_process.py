"""Processes that keep responses in one folder, and are killed while they do."""

import sys
from contextlib import ExitStack, closing
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import httpx
import openai
import pytest
from openai.types.responses import Response

from ds4.api.responses.database import Database
from ds4.api.responses.durable import FILE, FOLDER, DurableStore
from ds4.observe.records import Record
from ds4.testing.process import ServerProcess, server_process

pytestmark = pytest.mark.server

SCRIPT = """
import itertools, sys
from pathlib import Path
from ds4.api.responses.durable import open_store
from ds4.api.responses.store import Item, Stored

folder, name = sys.argv[1:]
store = open_store(Path(folder), lambda record: sys.exit(repr(record)))
for number in itertools.count():
    item = Item(f"msg_{name}_{number}", b'{"text": "' + b"x" * 1000 + b'"}')
    store.put("", Stored(f"resp_{name}_{number}", b"{}", (), (), (item,)))
    store.flush()
    print(number, flush=True)
"""
ENOUGH = 30


def keeper(folder: Path, name: str) -> "Popen[str]":
    return Popen([sys.executable, "-c", SCRIPT, str(folder), name], stdout=PIPE, text=True)


def kept_by(process: "Popen[str]") -> int:
    """Kills it once it has kept enough, and says how many are certainly there."""
    assert process.stdout is not None
    last = -1
    while last < ENOUGH:
        line = process.stdout.readline()
        assert line, "it ended by itself"
        last = int(line)
    process.kill()
    process.wait()
    rest = process.stdout.read().splitlines(keepends=True)
    # The last line may be half a number.
    return int(rest[-2]) if len(rest) > 1 else last


def test_two_processes_keep_in_one_file_and_are_killed(tmp_path: Path) -> None:
    names = ("one", "two")
    with ExitStack() as stack:
        processes = [stack.enter_context(keeper(tmp_path, name)) for name in names]
        for process in processes:
            stack.callback(process.kill)
        counts = dict(zip(names, map(kept_by, processes), strict=True))
    records: list[Record] = []
    database = Database(tmp_path / FOLDER / FILE, 100_000, 2**30)
    with closing(DurableStore(database, records.append)) as store:
        for name, last in counts.items():
            for number in range(last + 1):
                assert store.get("", f"resp_{name}_{number}") is not None
                assert store.item("", f"msg_{name}_{number}") is not None
    assert records == []
    assert not list(tmp_path.rglob("*.damaged"))


def ask(server: ServerProcess, question: str, **fields: Any) -> Response:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="unused", max_retries=0) as client:
        answer: Response = client.responses.create(model="m", input=question, **fields)
        return answer


def test_a_conversation_goes_on_after_the_server_was_killed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("def reply(prompt): return 'You said Ada.' if 'I am Ada.' in prompt else 'Hello.'\n")
    options = ("--engine", "scripted", "--script", str(script), "--kv-disk-dir", str(tmp_path / "kept"))
    with server_process(tmp_path, *options) as server:
        first = ask(server, "I am Ada.")
        forgotten = ask(server, "I am Bea.", store=False)
        server.process.kill()
        server.process.wait()
    with server_process(tmp_path, *options) as server:
        assert ask(server, "Who am I?", previous_response_id=first.id).output_text == "You said Ada."
        with pytest.raises(openai.BadRequestError, match="not found"):
            ask(server, "Who am I?", previous_response_id=forgotten.id)
        kept = httpx.get(f"{server.url}/v1/responses/{first.id}").json()
        assert kept["output"][0]["content"][0]["text"] == first.output_text
        files = [path.read_bytes() for path in (tmp_path / "kept" / FOLDER).iterdir()]
        assert any(b"I am Ada." in data for data in files)
        assert not any(b"I am Bea." in data for data in files)
