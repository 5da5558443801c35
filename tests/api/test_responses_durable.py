"""Kept responses on disk: bounds, owners, damage, other processes, and disks that fail."""

import asyncio
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from api_fakes import FakeBackend, World, finish, run
from hypothesis import given
from hypothesis import strategies as st

from ds4.api.app import build_app
from ds4.api.responses import tables
from ds4.api.responses.database import Database
from ds4.api.responses.durable import FILE, FOLDER, MAX_BYTES, DurableStore, open_store
from ds4.api.responses.store import Item, MemoryStore, Stored
from ds4.api.workers import Workers
from ds4.core.events import Text
from ds4.observe.records import Notice, Record
from ds4.storage import sqlite_file
from ds4.storage.sqlite_file import SqliteFile
from ds4.testing.asgi import Client, Reply


def stored(name: str, *output: str, body: bytes = b"{}", earlier: tuple[Item, ...] = ()) -> Stored:
    items = tuple(Item(item, f'{{"of":"{name}","call_id":"{item}"}}'.encode()) for item in output)
    return Stored(name, body, earlier, (Item(f"in_{name}", b"[]"),), items)


@dataclass
class Shelf:
    """A folder with kept responses, and what was said about it."""

    folder: Path
    max_responses: int = 100
    max_bytes: int = MAX_BYTES
    records: list[Record] = field(default_factory=list)

    @property
    def file(self) -> Path:
        return self.folder / FOLDER / FILE

    @property
    def warnings(self) -> list[str]:
        return [r.text for r in self.records if isinstance(r, Notice) and r.level == "warning"]

    def store(self) -> DurableStore:
        return DurableStore(Database(self.file, self.max_responses, self.max_bytes), self.records.append)

    @contextmanager
    def opened(self) -> Iterator[DurableStore]:
        with closing(self.store()) as store:
            yield store

    def bytes(self) -> int:
        return sum(path.stat().st_size for path in self.file.parent.iterdir())


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "kept")


def keep(store: DurableStore, *responses: Stored, namespace: str = "") -> None:
    for response in responses:
        store.put(namespace, response)
        store.flush()


def test_without_a_directory_all_is_in_memory() -> None:
    assert isinstance(open_store(None, print), MemoryStore)


def test_what_was_flushed_is_there_for_the_next_process_as_it_was(shelf: Shelf) -> None:
    history = (Item("msg_0", b'"one"'), Item("msg_1", b'"two"'))
    kept = stored("resp_1", "msg_2", "msg_3", body=b'{"a":1}', earlier=history)
    # Not closed: a process that is killed closes nothing either.
    first = shelf.store()
    keep(first, kept)
    with shelf.opened() as second:
        assert second.get("", "resp_1") == kept
        assert second.item("", "msg_3") == kept.output[1]
        assert second.calling("", "msg_3") == "resp_1"
        assert second.item("", "msg_0") is None, "brought by another response"
    first.close()
    assert shelf.records == []


def test_what_was_put_is_there_before_it_is_flushed(shelf: Shelf) -> None:
    with shelf.opened() as store, shelf.opened() as other:
        store.put("", stored("resp_1", "msg_1"))
        assert store.get("", "resp_1") is not None
        assert store.item("", "msg_1") is not None
        assert other.get("", "resp_1") is None
        assert store.delete("", "resp_1")
        store.flush()
        assert store.get("", "resp_1") is None


def test_only_the_owner_can_read_the_files(shelf: Shelf) -> None:
    with shelf.opened() as store:
        keep(store, stored("resp_1"))
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in shelf.file.parent.iterdir()}
    assert modes == dict.fromkeys([FILE, f"{FILE}-wal", f"{FILE}-shm"], 0o600)
    folders = (shelf.folder, shelf.file.parent)
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700] * 2


@dataclass(frozen=True)
class Step:
    kind: str
    namespace: str
    number: int


STEPS = st.builds(
    Step,
    st.sampled_from(["put", "get", "item", "calling", "delete", "reopen"]),
    st.sampled_from("ab"),
    st.integers(0, 5),
)


@given(steps=st.lists(STEPS, max_size=15))
def test_it_keeps_and_forgets_what_the_memory_would(steps: list[Step]) -> None:
    with TemporaryDirectory() as folder:
        shelf, model = Shelf(Path(folder), max_responses=3), MemoryStore(max_responses=3)
        store = shelf.store()
        for step in steps:
            name, item = f"resp_{step.number}", f"msg_{step.number}"
            match step.kind:
                case "put":
                    kept = stored(name, item)
                    model.put(step.namespace, kept)
                    keep(store, kept, namespace=step.namespace)
                case "get":
                    assert store.get(step.namespace, name) == model.get(step.namespace, name)
                case "item":
                    assert store.item(step.namespace, item) == model.item(step.namespace, item)
                case "calling":
                    assert store.calling(step.namespace, item) == model.calling(step.namespace, item)
                case "delete":
                    assert store.delete(step.namespace, name) == model.delete(step.namespace, name)
                case _:
                    store.close()
                    store = shelf.store()
        store.close()
        assert shelf.records == []


def test_the_file_never_grows_beyond_its_bound(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, max_bytes=400_000)
    with shelf.opened() as store:
        for number in range(30):
            keep(store, stored(f"resp_{number}", body=b"x" * 50_000))
        assert store.get("", "resp_29") is not None
        assert store.get("", "resp_0") is None
        keep(store, stored("huge", body=b"x" * 500_000))
        assert store.get("", "huge") is None, "too large by itself"
        assert store.get("", "resp_29") is not None
    assert 200_000 < shelf.bytes() < 500_000


def test_a_history_is_on_disk_once(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    with shelf.opened() as store:
        history = tuple(Item(f"msg_{number}", bytes(10_000)) for number in range(20))
        for number in range(20):
            keep(store, stored(f"resp_{number}", earlier=history[: number + 1]))
        assert store.delete("", "resp_0")
        found = store.get("", "resp_19")
        assert found is not None
        assert found.earlier == history
    assert shelf.bytes() < 600_000


def test_an_item_with_other_words_under_a_known_id_is_another_item(shelf: Shelf) -> None:
    with shelf.opened() as store:
        old, new = (Stored(f"resp_{n}", b"{}", (), (), (Item("msg_1", b"%d" % n),)) for n in (1, 2))
        keep(store, old, new)
        assert store.item("", "msg_1") == new.output[0]
        assert store.get("", "resp_1") == old
        store.delete("", "resp_2")
        assert store.item("", "msg_1") == old.output[0]


@pytest.mark.parametrize("damage", [b"this is no database, " * 300, b"SQLite format 3\x00" + bytes(5000)])
def test_a_damaged_file_is_put_aside_and_a_fresh_one_begun(shelf: Shelf, damage: bytes) -> None:
    shelf.file.parent.mkdir(parents=True)
    shelf.file.write_bytes(damage)
    with shelf.opened() as store:
        keep(store, stored("resp_1"))
        assert store.get("", "resp_1") is not None
    aside = shelf.file.with_suffix(".damaged")
    assert aside.read_bytes() == damage
    assert len(shelf.warnings) == 1
    assert str(aside) in shelf.warnings[0]


def test_damage_that_shows_later_costs_what_was_kept_and_nothing_else(shelf: Shelf) -> None:
    with shelf.opened() as store:
        keep(store, *(stored(f"resp_{number}", body=b"x" * 9000) for number in range(9)))
    data = bytearray(shelf.file.read_bytes())
    data[4096:] = bytes(len(data) - 4096)
    shelf.file.write_bytes(data)
    with shelf.opened() as store:
        assert store.get("", "resp_1") is None
        keep(store, stored("new"))
        assert store.get("", "new") is not None
    assert len(shelf.warnings) == 1


def test_another_version_is_put_aside(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    with shelf.opened() as store:
        keep(store, stored("resp_1"))
    monkeypatch.setattr(tables, "VERSION", tables.VERSION + 1)
    with shelf.opened() as store:
        assert store.get("", "resp_1") is None
    assert f"version {tables.VERSION - 1}" in shelf.warnings[0]


def test_a_file_that_another_process_replaced_is_opened_anew(shelf: Shelf) -> None:
    with shelf.opened() as one, shelf.opened() as other:
        keep(one, stored("resp_1"))
        keep(other, stored("resp_2"))
        shelf.file.parent.rename(shelf.folder / "aside")
        keep(one, stored("resp_3"))
        assert other.get("", "resp_3") is not None
        assert other.get("", "resp_2") is None
    assert shelf.warnings == []


def test_only_the_file_that_was_open_is_put_aside(shelf: Shelf) -> None:
    late, one = (Database(shelf.file, 10, MAX_BYTES) for _ in range(2))
    with closing(late), closing(one):
        late.open()
        one.open()
        one.put_aside()
        one.write("", stored("resp_1"))
        late.put_aside()
        assert late.read("", "resp_1") is not None


def test_two_stores_on_one_file_see_each_others_responses(shelf: Shelf) -> None:
    with shelf.opened() as one, shelf.opened() as other:
        threads = [
            threading.Thread(target=keep, args=(store, *(stored(f"{name}_{n}") for n in range(20))))
            for name, store in (("one", one), ("other", other))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(one.get("", f"other_{n}") and other.get("", f"one_{n}") for n in range(20))
        assert other.delete("", "one_3")
        assert one.get("", "one_3") is None
    assert shelf.warnings == []


def prepared_with(pragma: str, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare = sqlite_file._set_up  # noqa: SLF001

    def and_then(connection: sqlite3.Connection) -> None:
        prepare(connection)
        connection.execute(pragma)

    monkeypatch.setattr(sqlite_file, "_set_up", and_then)


@pytest.mark.parametrize(
    ("pragma", "words"), [("PRAGMA max_page_count = 20", "full"), ("PRAGMA query_only = ON", "readonly")]
)
def test_a_disk_that_takes_no_more_costs_nothing_but_what_outlives_the_process(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, pragma: str, words: str
) -> None:
    responses = [stored(f"resp_{number}", f"msg_{number}", body=b"x" * 30_000) for number in range(6)]
    with shelf.opened() as store:
        with monkeypatch.context() as failing:
            prepared_with(pragma, failing)
            store.close()
            keep(store, *responses)
            assert [store.get("", kept.id) for kept in responses] == responses
            assert store.item("", "msg_5") is not None
            assert len(shelf.warnings) == 1
            assert words in shelf.warnings[0]
        store.close()
        store.flush()
        assert shelf.records[-1] == Notice("responses are kept on disk again")
    with shelf.opened() as store:
        assert [store.get("", kept.id) for kept in responses] == responses


def test_a_directory_that_cannot_be_made_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    shelf = Shelf(tmp_path / "taken")
    with shelf.opened() as store:
        keep(store, stored("resp_1"), stored("resp_2"))
        assert store.get("", "resp_1") is not None
        assert not store.delete("", "unknown")
    assert len(shelf.warnings) == 1


@dataclass
class Desk:
    """The API on a store in a folder. `opened_on` are the threads that touched the file."""

    client: Client
    store: DurableStore

    async def ask(self, **fields: object) -> Reply:
        return await self.client.post("/v1/responses", {"model": "m", "input": "hi", **fields})


@contextmanager
def desk(shelf: Shelf) -> Iterator[Desk]:
    world = World(FakeBackend([(Text("hello"), finish())]))
    with shelf.opened() as store:
        services = replace(world.services(), responses=store, run=Workers(threads=1))
        yield Desk(Client(build_app(services)), store)


def test_a_conversation_goes_on_after_a_restart(shelf: Shelf) -> None:
    async def first() -> str:
        with desk(shelf) as server:
            return str((await server.ask()).json()["id"])

    async def second(previous: str) -> None:
        with desk(shelf) as server:
            answer = await server.ask(previous_response_id=previous, stream=True)
            assert answer.status == 200
            kept = (await server.client.get(f"/v1/responses/{previous}")).json()
            (message,) = kept["output"]
            referred = await server.ask(input=[{"type": "item_reference", "id": message["id"]}])
            assert referred.status == 200
            gone = await server.client.request("DELETE", f"/v1/responses/{previous}")
            assert gone.json()["deleted"]
        assert shelf.records == []

    run(second(run(first())))


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_is_on_disk_before_its_client_has_it(shelf: Shelf, stream: bool) -> None:
    async def scenario() -> None:
        with desk(shelf) as server, shelf.opened() as other:
            async with server.client.open(
                "POST", "/v1/responses", value={"model": "m", "input": "hi", "stream": stream}
            ) as exchange:
                await exchange.start()
                async for chunk in exchange.chunks():
                    ended = not stream or b"response.completed" in chunk
                    assert (other.get("", exchange.headers["x-ds4-request"]) is not None) == ended

    run(scenario())


def test_what_is_not_to_be_stored_is_not(shelf: Shelf) -> None:
    async def scenario() -> None:
        with desk(shelf) as server:
            before = shelf.bytes()
            answer = await server.ask(store=False)
            assert answer.status == 200
            assert (await server.client.get(f"/v1/responses/{answer.json()['id']}")).status == 404
            server.store.flush()
            assert shelf.bytes() == before

    run(scenario())


def test_the_event_loop_never_touches_the_file(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    touching = set[int]()
    current = SqliteFile._current  # noqa: SLF001

    def watched(self: SqliteFile) -> sqlite3.Connection:
        touching.add(threading.get_ident())
        return current(self)

    async def scenario() -> None:
        with desk(shelf) as server:
            monkeypatch.setattr(SqliteFile, "_current", watched)
            answer = (await server.ask()).json()
            path = f"/v1/responses/{answer['id']}"
            await server.ask(previous_response_id=answer["id"], stream=True)
            await server.ask(input=[{"type": "item_reference", "id": "msg_gone"}, {"role": "user"}])
            for sub in ("input_tokens", "compact"):
                await server.client.post(
                    f"/v1/responses/{sub}", {"model": "m", "previous_response_id": answer["id"]}
                )
            for method, sub in (("GET", ""), ("GET", "/input_items"), ("POST", "/cancel"), ("DELETE", "")):
                await server.client.request(method, path + sub)
            assert touching
            assert threading.get_ident() not in touching

    asyncio.run(scenario())
