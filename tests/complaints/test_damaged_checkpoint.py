"""Users report: a checkpoint that cannot be loaded is tried again at every turn, each a full prefill."""

import asyncio

from ds4.core.usage import MissReason
from ds4.kv.policy import Knobs
from ds4.schedule.scheduler import CachePlan
from ds4.testing.inline_store import InlineStore
from ds4.testing.inside import Inside, Setting, inside

LONG = ("user", "a long story about the oak and the elm " * 40)


class Counting(InlineStore):
    """Notes what is read."""

    def __init__(self, store: InlineStore) -> None:
        super().__init__(store.saves)
        self.read: list[str] = []

    def fetch(self, key: str) -> None:
        self.read.append(key)
        super().fetch(key)


def process(store: InlineStore) -> Inside:
    cache = CachePlan(Knobs(min_tokens=64, saves=True), store=store)
    return inside(lambda prompt: "fine", Setting(n_slots=1, cache=cache))  # noqa: ARG005


def test_damage_is_one_miss_and_never_read_again() -> None:
    async def body() -> None:
        first = InlineStore()
        desk = process(first)
        await desk.chat(LONG)
        desk.pump.scheduler.persist()
        store = Counting(first)
        store.damaged = set(store.saves)
        desk = process(store)
        await desk.chat(LONG)
        assert desk.last_report().reason is MissReason.DAMAGED
        assert desk.last_cost().reused == 0
        read = list(store.read)
        assert len(set(read)) == len(read) > 0
        await desk.chat(LONG)
        assert desk.last_cost().computed == 1
        await desk.chat(("user", "something else " * 100))
        desk.pump.scheduler.persist()
        again = process(store.reopened())
        await again.chat(LONG)
        assert again.last_report().reason is not MissReason.DAMAGED
        assert again.last_cost().computed == 1
        assert store.read == read

    asyncio.run(body())
