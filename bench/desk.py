"""A server under test, what is sent to it, and what each request cost there."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import httpx

from bench.listening import Counts, Listener
from bench.shapes import Api
from bench.talk import Answer, Json

PATHS = {Api.CHAT: "/v1/chat/completions", Api.MESSAGES: "/v1/messages", Api.RESPONSES: "/v1/responses"}


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens of one request. `computed`: prefilled. `kept` tokens its client had already sent or got before,
    in the same conversation. `source` and `why`: what ours says of it. `first` in seconds.
    """

    who: str
    what: str
    prompt: int
    computed: int
    completion: int
    kept: int
    first: float
    source: str = ""
    why: str = ""

    @property
    def new(self) -> int:
        """The last token of a prompt is always computed: its logits are needed."""
        return max(1, self.prompt - self.kept)

    @property
    def excess(self) -> int:
        return max(0, self.computed - self.new)


class Host(Protocol):
    """What can be started, asked and ended, inside a running event loop."""

    ours: bool
    """It answers GET /requests/ID."""
    virtual: bool
    """Its clock is its own: times are those it tells."""

    def start(self) -> None: ...

    def stop(self, *, kill: bool = False) -> None: ...

    def http(self) -> httpx.AsyncClient: ...


@dataclass(slots=True)
class Desk:
    host: Host
    costs: list[Cost] = field(default_factory=list)

    def restart(self, *, kill: bool) -> None:
        self.host.stop(kill=kill)
        self.host.start()

    async def ask(self, api: Api, body: Json, *, who: str, what: str, kept: int) -> tuple[Answer, Cost]:
        """Raises AssertionError on an error status."""
        listener, began = Listener(api), time.perf_counter()
        first, id_ = 0.0, ""
        async with (
            self.host.http() as client,
            client.stream("POST", PATHS[api], json=body) as reply,
        ):
            if reply.status_code != 200:
                raise AssertionError(f"{reply.status_code}: {(await reply.aread())[:500]!r}")
            id_ = reply.headers.get("x-ds4-request", "")
            async for line in reply.aiter_lines():
                if line.startswith("data: {"):
                    listener.heard(json.loads(line[6:]))
                    if listener.begun and not first:
                        first = time.perf_counter() - began
        first = first or time.perf_counter() - began
        cost = await self._cost(listener.counts(), id_, first, who, what, kept)
        self.costs.append(cost)
        return listener.answer(), cost

    async def _cost(self, counts: Counts, id_: str, first: float, who: str, what: str, kept: int) -> Cost:
        prompt, completion, computed = counts.prompt, counts.completion, counts.prompt - counts.cached
        if not self.host.ours:
            return Cost(who, what, prompt, computed, completion, kept, first)
        async with self.host.http() as client:
            told = (await client.get(f"/requests/{id_}")).json()
        report = told["cache"]
        return Cost(
            who,
            what,
            told["prompt_tokens"],
            told["computed_tokens"],
            told["generated_tokens"],
            kept,
            told["timings"]["ttft_seconds"] if self.host.virtual else first,
            report["source"],
            " ".join(_words(report)),
        )


def _words(report: Json) -> list[str]:
    found = [str(report["reason"])] if report["reason"] != "none" else []
    found += [key for key in ("healed", "rewound") if report[key]]
    found += [f"{key}={report[key]}" for key in ("displaced",) if report[key]]
    if report["waited_seconds"]:
        found.append("waited")
    return found


def table(costs: Sequence[Cost]) -> list[str]:
    head = "| who | request | prompt | new | computed | excess | first token | from |"
    return [head, "|" + " --- |" * 8, *map(_row, costs)]


def _row(cost: Cost) -> str:
    counts = f"{cost.prompt} | {cost.new} | {cost.computed} | {cost.excess}"
    return f"| {cost.who} | {cost.what} | {counts} | {cost.first:.2f} s | {cost.source} {cost.why} |"
