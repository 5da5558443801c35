"""Users report: agents send back what they understood of an answer (arguments written anew, reasoning left
out or blank, ids of their own, blocks joined), and every turn is computed again from there on.

HYPOTHESIS_PROFILE=thorough tries every family with every API and every echo.
"""

import asyncio
import json
from pathlib import Path

import pytest
from echoing import APIS, ECHOES, Agent, Chat, Echo, Messages, Responses, reversed_keys

from ds4.core.step import Trim
from ds4.core.usage import AsSent, CacheSource, Unlike
from ds4.kv.policy import Knobs
from ds4.kv.replay.notebook import Notebook, Options
from ds4.schedule.scheduler import CachePlan
from ds4.testing.clock import FakeClock
from ds4.testing.inline_store import InlineStore
from ds4.testing.inside import Inside, Setting, inside
from ds4.testing.notebooks import notebook_in
from thorough import THOROUGH

FAMILIES = ("deepseek-v4", "deepseek-v4.1", "glm-5.2", "glm-5.3", "qwen3.8", "chatml")
Api = type[Chat] | type[Messages] | type[Responses]
ALL = [(family, api, echo, trim) for family in FAMILIES for api in APIS for echo in ECHOES for trim in Trim]
FEW = ALL[:: len(ALL) // 12 + 1]
TEMPLATES = Path(__file__).parents[1] / "prompt" / "templates"
MARKERS = 32
"""Tokens of a template between an answer and the next."""
WORST = ECHOES[-1]


def desk(
    family: str,
    agent: Agent,
    trim: Trim = Trim.ANY,
    cache: CachePlan | None = None,
    *,
    n_slots: int = 1,
    template: str = "",
) -> Inside:
    plan = cache or CachePlan(notebook=Notebook(Options(), FakeClock()))
    setting = Setting(family=family, n_ctx=16384, n_slots=n_slots, trim=trim, cache=plan, template=template)
    return inside(agent, setting)


def new_rows(server: Inside, text: str) -> int:
    return len(server.engine.tokenizer.encode_plain(text))


def nothing_again(server: Inside, text: str, turns: int) -> None:
    """Only what is new was computed: `text`, and the marks around it."""
    report = server.last_report()
    assert (report.replay.turns, report.replay.refused) == (turns, ())
    assert server.last_cost().computed <= new_rows(server, text) + MARKERS


@pytest.mark.parametrize(
    ("family", "api", "echo", "trim"),
    ALL if THOROUGH else FEW,
    ids=lambda value: getattr(value, "name", getattr(value, "__name__", str(value))),
)
def test_no_echo_costs_anything(family: str, api: Api, echo: Echo, trim: Trim) -> None:
    async def body() -> None:
        server, talk = desk(family, Agent(), trim), api(echo)
        for turn in range(6 if THOROUGH else 3):
            text = f"result {turn} " * 10
            said = await talk.ask(server, text)
            assert said.calls[0][1] == "look"
            assert said.reasoning
            if turn:
                nothing_again(server, text, turn)

    asyncio.run(body())


@pytest.mark.parametrize("family", FAMILIES if THOROUGH else FAMILIES[::2])
def test_an_answer_that_ends_behind_its_first_call_is_closed(family: str) -> None:
    """Codex forbids parallel calls: what closes the block is not sampled, but belongs into the prompt."""

    async def body() -> None:
        agent = Agent()
        server, talk = desk(family, agent), Chat(WORST)
        talk.extra = {"parallel_tool_calls": False}
        for turn in range(2):
            await talk.ask(server, f"result {turn}")
            if turn:
                nothing_again(server, f"result {turn}", turn)
        plain = Agent()
        other, again = desk(family, plain), Chat(WORST)
        for turn in range(2):
            await again.ask(other, f"result {turn}")
        assert agent.prompts[-1] == plain.prompts[-1]

    asyncio.run(body())


@pytest.mark.parametrize("family", FAMILIES if THOROUGH else FAMILIES[::2])
def test_reasoning_stays_when_the_next_question_comes(family: str) -> None:
    async def body() -> None:
        agent = Agent()
        server, talk = desk(family, agent, Trim.BOUNDARY), Chat(WORST)
        for turn in range(2):
            await talk.ask(server, f"result {turn}")
        talk.history.append({"role": "tool", "content": "done"})
        talk._waiting = ()  # noqa: SLF001
        await talk.ask(server, "And another question?")
        nothing_again(server, "done And another question?", 2)
        assert "I must think of step 0" in agent.prompts[-1]

    asyncio.run(body())


@pytest.mark.parametrize(("family", "template"), [("chatml", "chatml"), ("glm-5.2", "glm")])
def test_a_template_from_a_model_file_does_not_matter(family: str, template: str) -> None:
    source = (TEMPLATES / f"{template}.jinja").read_text()

    async def body() -> None:
        server, talk = desk(family, Agent(), Trim.BOUNDARY, template=source), Chat(WORST)
        for turn in range(3):
            said = await talk.ask(server, f"result {turn}")
            assert said.calls
            if turn:
                nothing_again(server, f"result {turn}", turn)

    asyncio.run(body())


def test_a_history_that_the_server_keeps_is_replayed_too() -> None:
    """Only what is new is sent; the rest is named by `previous_response_id`."""

    async def body() -> None:
        server, talk = desk("qwen3.8", Agent(), Trim.BOUNDARY), Responses(Echo("as it was"))
        talk.extra = {"store": True}
        for turn in range(3):
            before = len(talk.history)
            said = await talk.ask(server, f"result {turn}")
            if turn:
                nothing_again(server, f"result {turn}", turn)
            talk.extra = {"store": True, "previous_response_id": said.response_id}
            del talk.history[before:]

    asyncio.run(body())


@pytest.mark.parametrize("api", APIS)
def test_an_edit_wins_and_is_named(api: Api) -> None:
    async def body() -> None:
        agent = Agent()
        server, talk = desk("qwen3.8", agent), api(Echo("as it was"))
        for turn in range(3):
            await talk.ask(server, f"result {turn}")
        sent = json.dumps(talk.history, ensure_ascii=False)
        talk.history = json.loads(sent.replace("/tmp/ä 1.txt", "/tmp/ö 1.txt"))
        await talk.ask(server, "more")
        assert "/tmp/ö 1.txt" in agent.prompts[-1]
        assert "/tmp/ä 1.txt" not in agent.prompts[-1]
        replay = server.last_report().replay
        # The system text is a message, too.
        assert replay.refused == (AsSent(4, Unlike.ARGUMENTS),)
        assert replay.turns == 1

    asyncio.run(body())


def test_two_conversations_do_not_disturb_each_other() -> None:
    async def body() -> None:
        server = desk("deepseek-v4", Agent(), n_slots=2)
        talks = [Chat(WORST), Chat(WORST)]
        for turn in range(3):
            for name, talk in enumerate(talks):
                text = f"result {turn} for {name} " * 10
                await talk.ask(server, text)
                if turn:
                    nothing_again(server, text, turn)

    asyncio.run(body())


@pytest.mark.parametrize("trim", list(Trim))
def test_after_a_restart_it_goes_on(trim: Trim, tmp_path: Path) -> None:
    async def body() -> None:
        store, talk, knobs = InlineStore(), Messages(WORST), Knobs(64, saves=True)
        with notebook_in(tmp_path) as notebook:
            server = desk("glm-5.2", Agent(), trim, CachePlan(knobs, store=store, notebook=notebook))
            for turn in range(3):
                await talk.ask(server, f"result {turn} " * 10)
            server.pump.scheduler.persist()
        with notebook_in(tmp_path) as notebook:
            plan = CachePlan(knobs, store=store.reopened(), notebook=notebook)
            again = desk("glm-5.2", Agent(), trim, plan)
            await talk.ask(again, "result 3 " * 10)
            assert again.last_report().source is CacheSource.DISK
            nothing_again(again, "result 3 " * 10, 3)

    asyncio.run(body())


def test_without_a_memory_prompts_are_what_the_client_says() -> None:
    async def body() -> None:
        agent = Agent()
        server = desk("chatml", agent, cache=CachePlan())
        talk = Chat(Echo("reversed", arguments=reversed_keys))
        for turn in range(2):
            await talk.ask(server, f"result {turn}")
        assert '"arguments": {"ratio"' in agent.prompts[-1]
        assert server.last_report().replay.turns == 0

    asyncio.run(body())
