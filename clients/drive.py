"""Drives clients one after the other against a server of each family."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from clients import canary
from clients.client import Api, Client, Job
from clients.install import InstallError, installed
from clients.process import Ended, run
from clients.report import Line, Outcome, Wanted, cost, fault
from clients.table import COMPACTING, RECOVERING
from clients.watch import Exchange, watched
from ds4.testing import agent_script
from ds4.testing.process import ServerProcess, server_process

AGENT = Path(agent_script.__file__).resolve()
LONG_SESSION = Path(__file__).parent / "scripts" / "long_session.py"
CONTEXT, OUTPUT = 65536, 8192
DEMO_CONTEXT, DEMO_OUTPUT = 8192, 256
DEMO = "demo"
TASK = Wanted("greeting.txt", "hello", agent_script.DONE)
LONG_TASK = replace(TASK, overflow=True)
UNTOLD = 1_000_000
"""What a client is told that shall not know the limit."""
PROMPT = (
    f"Use a tool to create a file named {TASK.file} in the current directory whose content is the single "
    f"word: {TASK.text}   Then answer."
)
DEMO_PROMPT = "Say hello in one short sentence. Use no tool."


@dataclass(frozen=True, slots=True)
class Plan:
    """`cache` is where packages and logs lie. `patience` in seconds, for one drive."""

    clients: Sequence[Client]
    apis: Sequence[Api]
    families: Sequence[str]
    canary: bool
    cache: Path
    patience: float


@dataclass(frozen=True, slots=True)
class Setting:
    """What is asked of the clients of one server, and how much room they are told there is."""

    name: str
    prompt: str
    wanted: Wanted
    context: int
    output: int


def scripted(plan: Plan) -> Iterator[Line]:
    """Every client makes a file by a tool call, in every family."""
    for family in plan.families:
        with _server(*_engine(AGENT, family)) as server:
            setting = Setting(family, PROMPT, TASK, CONTEXT, OUTPUT)
            yield from _drive_all(plan, server, setting)
            if plan.canary:
                yield from _canary(plan, server, family)


def outgrown(plan: Plan) -> Iterator[Line]:
    """Every session grows until it does not fit: the client must make room, and then do its task."""
    for family in plan.families:
        with _server(*_engine(LONG_SESSION, family)) as server:
            for told, names in ((CONTEXT, COMPACTING), (UNTOLD, RECOVERING)):
                some = replace(plan, clients=[client for client in plan.clients if client.name in names])
                yield from _drive_all(some, server, Setting(family, PROMPT, LONG_TASK, told, OUTPUT))


def demo(plan: Plan) -> Iterator[Line]:
    """The packaged model may say what it likes: the protocol must hold."""
    with _server("--ctx", str(DEMO_CONTEXT)) as server:
        yield from _drive_all(plan, server, Setting(DEMO, DEMO_PROMPT, Wanted(), DEMO_CONTEXT, DEMO_OUTPUT))


def _engine(script: Path, family: str) -> tuple[str, ...]:
    return ("--engine", "scripted", "--script", str(script), "--model-family", family, "--ctx", str(CONTEXT))


@contextmanager
def _server(*options: str) -> Iterator[ServerProcess]:
    with (
        TemporaryDirectory(prefix="ds4-server-") as folder,
        server_process(Path(folder), *options, "--batched-session", "2") as server,
    ):
        yield server


def _drive_all(plan: Plan, server: ServerProcess, setting: Setting) -> Iterator[Line]:
    for client in plan.clients:
        for api in client.apis:
            if api in plan.apis:
                yield _drive(plan, client, api, server, setting)


def _drive(plan: Plan, client: Client, api: Api, server: ServerProcess, setting: Setting) -> Line:
    try:
        place = installed(plan.cache, client.packages)
    except InstallError as error:
        return Line(client.name, api, setting.name, Outcome.FAILED, 0, f"not installed: {error}")
    begin = server.log.stat().st_size
    with watched(server.url) as watch:
        job = Job(place, watch.url, api, client.asks, setting.context, setting.output, setting.prompt)
        ended = run(client.command(job), place.node, plan.patience)
    lines = server.log.read_bytes()[begin:].decode(errors="replace")
    label = f"{client.name}-{api}-{setting.name}-{setting.context}"
    _keep(plan.cache / "logs" / f"{label}.log", ended, watch.exchanges, lines)
    found = fault(ended, setting.wanted, client.complaint, watch.refused(), lines)
    outcome = Outcome.OK if found is None else Outcome.FAILED
    note = found or cost(lines)
    if setting.context == UNTOLD:
        note = f"not told the limit: {note}"
    return Line(client.name, api, setting.name, outcome, ended.seconds, note)


def _keep(path: Path, ended: Ended, exchanges: Sequence[Exchange], log: str) -> None:
    """For whoever wants to know why."""
    path.parent.mkdir(parents=True, exist_ok=True)
    requests = "\n".join(f"{exchange.status} {exchange.request}" for exchange in exchanges)
    parts = {"output": ended.output, "errors": ended.errors, "requests": requests, "server": log}
    path.write_text("".join(f"== {name}\n{text.rstrip()}\n" for name, text in parts.items()))


def _canary(plan: Plan, server: ServerProcess, family: str) -> Iterator[Line]:
    try:
        place = installed(plan.cache, canary.PACKAGES)
    except InstallError as error:
        yield Line(canary.NAME, "", family, Outcome.FAILED, 0, f"not installed: {error}")
        return
    yield from canary.scan(place, server.url, family, plan.patience)
