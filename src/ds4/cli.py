"""The command `ds4-server`: start, serve, stop; exit codes and the words on stderr."""

import asyncio
import gc
import os
import ssl
import sys
from collections.abc import Sequence
from pathlib import Path

import uvloop

from ds4 import cache_command, replay_command, trace_command, wiring
from ds4.api.access import Access
from ds4.api.app import build_app
from ds4.api.gate import Gate
from ds4.api.server import bind, serve
from ds4.config import Config, HelpRequest, choose_model, parse
from ds4.core.clock import SystemClock
from ds4.core.errors import OptionError, StartError
from ds4.observe.records import Notice
from ds4.observe.requests import Journal
from ds4.observe.sink import LogSink
from ds4.observe.start import start_lines
from ds4.observe.tee import tee
from ds4.rerun.recorder import Watch
from ds4.rerun.tracing import trace_head, tracing
from ds4.schedule.bridge import LocalBackend
from ds4.schedule.thread import EngineThread

INTERRUPTED = 130
BROKEN = 1
COMMANDS = {
    cache_command.WORD: cache_command.main,
    replay_command.WORD: replay_command.main,
    trace_command.WORD: trace_command.main,
}


def main(argv: Sequence[str] | None = None) -> int:
    _hold_standard_streams()
    try:
        words = sys.argv[1:] if argv is None else argv
        if words and words[0] in COMMANDS:
            return COMMANDS[words[0]](words[1:])
        asked = parse(words)
        if isinstance(asked, HelpRequest):
            sys.stdout.write(asked.text)
            return 0
        return run(asked)
    except StartError as error:
        hint = "; see ds4-server --help" if isinstance(error, OptionError) else ""
        sys.stderr.write(f"ds4-server: {error}{hint}\n")
        return error.exit_code
    except KeyboardInterrupt:
        # Before the server has its own handlers: while a model is downloaded. What has come is kept.
        return INTERRUPTED


def run(config: Config) -> int:
    """Serves until told to stop. Raises StartError."""
    _change_directory(config)
    choice = choose_model(config, Path.cwd())
    plan = wiring.blueprint(config, choice)
    sink = LogSink(sys.stderr, SystemClock())
    try:
        sink(Notice(choice.line if choice else f"no model: answers come from {config.script}"))
        access, tls = wiring.access(config, sink), wiring.tls(config)
        with (
            tracing(config, sink) as watch,
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            return runner.run(Program(config, plan, sink, access, tls, watch).serve())
    finally:
        sink.close()


def _hold_standard_streams() -> None:
    """A closed standard stream's number would be given to the next file or socket that is opened."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _spare_the_collector() -> None:
    """What is loaded now stays: walking it again and again would only stall the threads. Large requests
    make many objects at once, all of them wanted, so collections start later, too."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def _change_directory(config: Config) -> None:
    if config.chdir is None:
        return
    try:
        os.chdir(config.chdir)
    except OSError as error:
        raise StartError(f"--chdir {config.chdir}: {error.strerror}") from None


class Program:
    """One run of the server. The port is taken before the model is loaded: a taken port is said at once."""

    def __init__(
        self,
        config: Config,
        plan: wiring.Blueprint,
        sink: LogSink,
        access: Access,
        tls: ssl.SSLContext | None,
        watch: Watch,
    ) -> None:
        self._config = config
        self._plan = plan
        self._sink = sink
        self._ids = wiring.new_ids()
        self._access = access
        self._tls = tls
        self._gate = Gate(ids=self._ids, observe=sink, access=access)
        self._watch = watch
        self._journal = Journal(watch.clock)
        self._thread = EngineThread(watch.clock, tee(sink, self._journal, watch.observe))
        self._stop = asyncio.Event()
        self._backend: LocalBackend | None = None

    async def serve(self) -> int:
        sock = bind(self._config.host, self._config.port)
        serving = asyncio.ensure_future(serve(sock, self._gate, self._drain, tls=self._tls, stop=self._stop))
        loading = asyncio.ensure_future(self._load())
        await asyncio.wait((serving, loading), return_when=asyncio.FIRST_COMPLETED)
        if not loading.done():
            self._leave_at_once(serving.result())
        try:
            loading.result()
            return await self._until_stopped(serving)
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
            await self._thread.close()

    async def _until_stopped(self, serving: "asyncio.Future[int]") -> int:
        broken = asyncio.ensure_future(self._thread.broken())
        await asyncio.wait((serving, broken), return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            broken.cancel()
            return serving.result()
        self._sink(Notice(f"{broken.result()}; the server stops", "error"))
        self._stop.set()
        await serving
        return BROKEN

    async def _load(self) -> None:
        config, sink, watch = self._config, self._sink, self._watch
        opened = await self._thread.open(self._plan.open_engine)
        engine = watch.engine(opened)
        memory = await self._thread.call(engine.memory)
        limits = wiring.limits(config, engine)
        # The directory is read on the engine's thread, which has nothing else to do yet.
        cache = await self._thread.call(
            lambda: wiring.cache_plan(config, engine, SystemClock(), sink, watch.answers)
        )
        watched = watch.cache(cache)
        self._backend = self._thread.serve(engine, limits, config.max_queue, watched, make=watch.scheduler)
        parts = wiring.services(
            config,
            self._plan,
            engine,
            self._backend,
            watch.ids(self._ids),
            sink,
            self._journal,
            self._access,
            cache.notebook,
            watch.clock,
            # Unwatched: a trace would note every piece of it.
            vocabulary=opened.tokenizer,
        )
        for text in start_lines(
            engine.info, engine.caps, memory, asked_ctx=config.ctx, quantum=limits.quantum, chunk=limits.chunk
        ):
            sink(Notice(text))
        for text in engine.info.notes:
            sink(Notice(text, "warning"))
        watch.begin(lambda: trace_head(config, self._plan, opened, parts, limits, cache))
        self._gate.open(watch.app(build_app(watch.services(parts))))
        _spare_the_collector()
        scheme = "http" if self._tls is None else "https"
        sink(Notice(f"listening on {scheme}://{config.host}:{config.port}"))

    def _drain(self) -> None:
        self._sink(Notice("shutdown requested, draining requests"))
        if self._backend is not None:
            self._backend.drain()

    def _leave_at_once(self, code: int) -> None:
        """Told to stop while the model loads: loading cannot be interrupted, and holds nothing to save."""
        self._sink.close()
        sys.stderr.flush()
        os._exit(code)
