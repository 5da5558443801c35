"""Where a session is played: a server process, or the whole server in this process on a clock of its own."""

from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from bench.scripted_model import reply
from bench.servers import Server
from ds4.core.clock import SystemClock
from ds4.core.step import Trim
from ds4.kv.policy import Knobs
from ds4.kv.replay.database import FILE, Database
from ds4.kv.replay.disk_copy import DiskCopy
from ds4.kv.replay.memory import Bounds
from ds4.schedule.scheduler import CachePlan, Limits
from ds4.testing.backend import ignore
from ds4.testing.inline_store import InlineStore
from ds4.testing.inside import Inside, Setting, inside

PATIENCE = 1200


class ProcessHost:
    """`bench.desk.Host`."""

    virtual = False

    def __init__(self, server: Server, *, ours: bool) -> None:
        self.ours = ours
        self._server = server
        self._url = ""

    def start(self) -> None:
        self._url = f"http://127.0.0.1:{self._server.start()}"

    def stop(self, *, kill: bool = False) -> None:
        self._server.stop(kill=kill)

    def http(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self._url, timeout=PATIENCE)


class InsideHost:
    """`bench.desk.Host`: scripted, with any memory class; the states on its disk are in memory, too."""

    ours = virtual = True

    def __init__(self, family: str, trim: Trim, slots: int) -> None:
        self._family = family
        self._trim = trim
        self._slots = slots
        self._store = InlineStore()
        self._folder = TemporaryDirectory(prefix="ds4-bench-")
        self._answers: DiskCopy | None = None
        self._inside: Inside | None = None

    def start(self) -> None:
        self._store = self._store.reopened()
        cache = CachePlan(Knobs(saves=True), ram=1 << 30, store=self._store)
        database = Database(Path(self._folder.name, FILE), "scripted", Bounds(), SystemClock())
        self._answers = DiskCopy(database, ignore)
        setting = Setting(
            self._family,
            131072,
            self._slots,
            trim=self._trim,
            limits=Limits(quantum=128, chunk=2048),
            cache=cache,
            answers=self._answers,
        )
        self._inside = inside(reply, setting)

    def stop(self, *, kill: bool = False) -> None:
        if self._inside is not None and not kill:
            self._inside.pump.scheduler.persist()
        if self._answers is not None:
            self._answers.close()
        self._inside = None

    def http(self) -> httpx.AsyncClient:
        assert self._inside is not None
        return httpx.AsyncClient(transport=httpx.ASGITransport(self._inside.app), base_url="http://localhost")
