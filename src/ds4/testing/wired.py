"""The server as the command wires it, in this process: without sockets, the engine's thread, and a cache."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ds4 import wiring
from ds4.api.access import Access
from ds4.api.app import build_app
from ds4.api.services import Services
from ds4.config import Config, choose_model, parse
from ds4.core.clock import SystemClock
from ds4.core.ports import Engine
from ds4.observe.records import Record
from ds4.observe.requests import Journal
from ds4.observe.tee import tee
from ds4.testing.asgi import Client
from ds4.testing.backend import Pump


@dataclass(frozen=True, slots=True)
class Wired:
    """`records` is everything that was reported."""

    plan: wiring.Blueprint
    client: Client
    services: Services
    pump: Pump
    records: list[Record]


def wired(engine: Engine, options: Sequence[str]) -> Wired:
    """A server with these command line options around an engine that is open, and is the server's alone until
    the next one. Needs a running event loop."""
    config = parse(options)
    if not isinstance(config, Config):
        raise ValueError(f"{options} ask for help")
    for slot in range(engine.info.n_slots):
        engine.clear(slot)
    clock, records = SystemClock(), list[Record]()
    journal = Journal(clock)
    observe = tee(records.append, journal)
    pump = Pump(engine, clock, limits=wiring.limits(config, engine), observe=observe)
    plan = wiring.blueprint(config, choose_model(config, Path.cwd()))
    services = wiring.services(
        config,
        plan,
        engine,
        pump.backend,
        wiring.new_ids(),
        observe,
        journal,
        Access(),
        None,
        vocabulary=engine.tokenizer,
    )
    return Wired(plan, Client(build_app(services)), services, pump, records)
