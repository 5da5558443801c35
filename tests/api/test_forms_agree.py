"""Streamed or whole, and by whichever API: one answer is one answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from answer_forms import CHATS, comparable, completions_of_stream
from api_fakes import run
from hypothesis import example, given
from hypothesis import strategies as st

from ds4.formats.registry import family_named
from ds4.testing.agent_script import MARKUPS, THOUGHTS
from ds4.testing.inside import Setting, inside

FAMILIES = ("deepseek-v4", "glm-5.2", "qwen3.8", "chatml")
CUTS = ["</think>", "<think>", "</", "<", '"', "\\", "{", "&lt;", "\n\n"]
WORDS = ["a", " ", "é", "👨‍👩‍👧", "שלום", "stop", *CUTS]
STOPS = ["stop", "\n\n", "👧", "ab", "<"]
NAMES = ["look_up", "write", "nobody_offered_this"]
PARAMETERS = {"q": {"type": "string"}, "n": {"type": "integer"}, "more": {}}
Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """A model's answer, and the limits it meets."""

    family: str
    thought: str | None
    parts: list[str | Call]
    stops: list[str]
    limit: int | None
    logprobs: bool

    def reply(self, prompt: str) -> str:
        markup = next(markup for markup in MARKUPS if markup.sign in prompt)
        opening = next((opening for opening in THOUGHTS if prompt.endswith(opening)), None)
        closing = "\n</think>\n\n" if opening == "<think>\n" or opening is None else "</think>"
        thought = "" if self.thought is None else ("" if opening else "<think>\n") + self.thought + closing
        return thought + "".join(p if isinstance(p, str) else markup.call(*p) for p in self.parts)

    def setting(self) -> Setting:
        return Setting(self.family, n_ctx=2048, max_tokens=self.limit or 1000)


texts = st.text() | st.lists(st.sampled_from(WORDS), max_size=8).map("".join)
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
calls = st.tuples(st.sampled_from(NAMES), st.dictionaries(st.sampled_from([*PARAMETERS, "x"]), values))


def parts_of(family: str) -> st.SearchStrategy[list[str | Call]]:
    known = family_named(family)
    marks = sorted({*known.spellings, *known.tool_format.spellings})
    return st.lists(texts | calls | st.sampled_from(marks), max_size=4)


cases = st.sampled_from(FAMILIES).flatmap(
    lambda family: st.builds(
        Case,
        st.just(family),
        st.none() | texts,
        parts_of(family),
        st.lists(st.sampled_from(STOPS), max_size=2),
        st.none() | st.integers(0, 60),
        st.booleans(),
    )
)


LOOKS, WRITES = ("look_up", {"q": "x", "n": 1}), ("write", {"more": {"a": [1, "👧"]}})
TALKS = Case("deepseek-v4", "Why?\n", ["a\n \nb", LOOKS, WRITES], [], None, True)
STOPPED = Case("chatml", "Why?", ["one ", "stop", " two"], ["stop"], None, True)
CUT = Case("qwen3.8", None, ["Well. ", WRITES, WRITES], [], 40, False)


def body_of(api: str, case: Case) -> dict[str, object]:
    schema = {"type": "object", "properties": PARAMETERS}
    functions = [{"name": name, "parameters": schema} for name in NAMES[:2]]
    question = {"role": "user", "content": "Well?"}
    match api:
        case "chat":
            own: dict[str, object] = {
                "messages": [question],
                "tools": [{"type": "function", "function": function} for function in functions],
                "stop": case.stops,
                "stream_options": {"include_usage": True},
                "logprobs": case.logprobs,
            }
        case "responses":
            own = {
                "input": [question],
                "tools": [{"type": "function", **function} for function in functions],
                "stop": case.stops,
                "reasoning": {"summary": "auto"},
                "include": ["message.output_text.logprobs"] if case.logprobs else [],
            }
        case _:
            own = {
                "messages": [question],
                "tools": [{"name": f["name"], "input_schema": f["parameters"]} for f in functions],
                "stop_sequences": case.stops,
            }
    return {"model": "m", "temperature": 0, **own}


async def asked(case: Case, path: str, body: Mapping[str, object]) -> Any:
    """Each time a new server: nothing is cached, and ids and times are those of the first request."""
    answer = await inside(case.reply, case.setting()).client.post(path, body)
    assert answer.status == 200, answer.body
    return answer


@example(TALKS)
@example(STOPPED)
@example(CUT)
@given(case=cases)
def test_a_chat_answer_is_the_same_by_every_api_streamed_and_whole(case: Case) -> None:
    async def scenario() -> None:
        seen = []
        for api, form in CHATS.items():
            body = body_of(api, case)
            whole = (await asked(case, form.path, body)).json()
            streamed = form.of_stream((await asked(case, form.path, {**body, "stream": True})).body)
            assert comparable(streamed) == comparable(whole)
            seen.append(form.seen(whole))
        assert seen == seen[:1] * len(CHATS)

    run(scenario())


@example(case=STOPPED, n=2, echo=True)
@given(case=cases, n=st.integers(1, 2), echo=st.booleans())
def test_a_completion_is_the_same_streamed_and_whole(case: Case, n: int, echo: bool) -> None:
    body = {
        "prompt": ["Well", "Then"],
        "temperature": 0,
        "n": n,
        "stop": case.stops,
        "stream_options": {"include_usage": True},
    }
    body |= {"echo": True} if echo else {"logprobs": 1 if case.logprobs else None}

    async def scenario() -> None:
        whole = (await asked(case, "/v1/completions", body)).json()
        streamed = (await asked(case, "/v1/completions", {**body, "stream": True})).body
        assert comparable(completions_of_stream(streamed)) == comparable(whole)

    run(scenario())
