"""What earlier runs left on disk and a traced run was given is in its trace."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from reruns import lines_of, traced, verdict, without_texts

from ds4.api.responses.durable import DurableStore, open_store
from ds4.api.responses.store import Item, MemoryStore, Stored
from ds4.core.usage import Replay
from ds4.kv.replay.database import FILE, Database
from ds4.kv.replay.disk_copy import DiskCopy
from ds4.kv.replay.memory import Bounds
from ds4.observe.trace.reading import Run
from ds4.observe.trace.values import Json
from ds4.replay_command import told
from ds4.rerun.moment import Callers, ReadMoments
from ds4.rerun.record.api import Notes
from ds4.rerun.record.earlier import NotedResponses
from ds4.rerun.replay.earlier import Earlier
from ds4.testing.backend import ignore
from ds4.testing.clock import FakeClock
from ds4.testing.inside import Inside, Setting, inside, text_of

Play = Callable[[Inside], Awaitable[object]]
ANSWER = "Hm, let me see.</think>An answer of some words."


def reply(_prompt: str) -> str:
    return ANSWER


def untraced(play: Play, setting: Setting) -> None:
    async def run() -> None:
        await play(inside(reply, setting))

    asyncio.run(run())


def same(run: Run) -> None:
    found = verdict(run)
    assert found.same, "\n".join(told(found, verbose=False))


def without(run: Run, at: str) -> Run:
    return Run(run.head, [line for line in run.lines if line["at"] != at])


@contextmanager
def answers_in(directory: Path) -> Iterator[DiskCopy]:
    disk = DiskCopy(Database(directory / FILE, "m", Bounds(), FakeClock()), ignore)
    try:
        yield disk
    finally:
        disk.close()


def test_answers_of_an_earlier_run_are_put_back_again(tmp_path: Path) -> None:
    async def first(server: Inside) -> None:
        for word in ("one", "two", "never asked again"):
            await server.chat(("user", word))

    async def second(server: Inside) -> None:
        said = ANSWER.split(">")[1]
        beginning = (("user", "one"), ("assistant", said))
        answer = await server.chat(*beginning, ("user", "more"))
        assert server.last_report().replay == Replay(1)
        # The next ones stand in memory by now, the first from disk, the second from this run.
        await server.chat(
            *beginning, ("user", "more"), ("assistant", text_of(answer)), ("user", "still more")
        )
        assert server.last_report().replay == Replay(2)
        await asyncio.gather(
            *(server.chat(("user", "two"), ("assistant", said), ("user", "x")) for _ in "ab")
        )

    with answers_in(tmp_path) as disk:
        untraced(first, Setting("deepseek-v4", answers=disk))
    with answers_in(tmp_path) as disk:
        run = traced(second, reply, Setting("deepseek-v4", answers=disk))
    given = [line for line in lines_of(run) if line["at"] == "remembered"]
    assert [len(line["answers"]) for line in given] == [1, 1]
    same(run)
    same(without_texts(run))
    assert not verdict(without(run, "remembered")).same


def test_a_response_of_an_earlier_run_is_gone_on_from_again(tmp_path: Path) -> None:
    names: list[str] = []

    async def first(server: Inside) -> None:
        body = await server.client.post("/v1/responses", {"input": "Hello.", "model": "any"})
        names.append(body.json()["id"])

    async def second(server: Inside) -> None:
        ask, name = server.client.post, names[0]
        for _ in range(2):
            more = {"input": "And then?", "model": "any", "previous_response_id": name}
            name = (await ask("/v1/responses", more)).json()["id"]
        items = (await server.client.get(f"/v1/responses/{names[0]}/input_items")).json()
        reference = {"type": "item_reference", "id": items["data"][0]["id"]}
        again = {"type": "message", "role": "user", "content": "Again?"}
        reply = await ask("/v1/responses", {"input": [reference, again], "model": "any"})
        assert reply.status == 200
        await server.client.request("DELETE", f"/v1/responses/{names[0]}")
        assert (await server.client.get(f"/v1/responses/{names[0]}")).status == 404
        assert (await ask("/v1/responses", {"previous_response_id": "resp_no", "input": "x"})).status == 400

    store = open_store(tmp_path, ignore)
    untraced(first, Setting(responses=store))
    assert isinstance(store, DurableStore)
    store.close()
    store = open_store(tmp_path, ignore)
    run = traced(second, reply, Setting(responses=store))
    kept = [line for line in lines_of(run) if line["at"] == "kept"]
    assert [line["id"] for line in kept if "id" in line] == names
    same(run)
    same(without_texts(run))
    assert not verdict(without(run, "kept")).same


def test_an_item_alone_and_what_is_gone_is_noted() -> None:
    clock, lines = FakeClock(), list[Json]()
    store = MemoryStore(max_responses=2)
    old = Stored("resp_1", b"{}", (), (Item("msg_1", b"{}"),), ())
    store.put("secret", old)
    noted = NotedResponses(store, Notes(lines.append, ReadMoments(clock), Callers()))
    earlier = Earlier()

    def both(id_: str) -> tuple[object, object]:
        found = noted.item("secret", id_)
        earlier.reveal(lines)
        lines.clear()
        return found, earlier.responses.item("caller-1", id_)

    assert both("msg_1") == (Item("msg_1", b"{}"), Item("msg_1", b"{}"))
    assert both("msg_9") == (None, None)
    for number in (2, 3):
        new = Stored(f"resp_{number}", b"{}", (), (Item(f"msg_{number}", b"{}"),), ())
        noted.put("secret", new)
        earlier.responses.put("caller-1", new)
    assert both("msg_1") == (None, None)
    assert both("msg_3") == (Item("msg_3", b"{}"), Item("msg_3", b"{}"))
