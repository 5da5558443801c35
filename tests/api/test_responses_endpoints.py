"""The paths of Responses over HTTP, with everything behind the API faked."""

import json
from typing import Any

import pytest
from api_fakes import FakeBackend, FakeRenderer, World, finish, run
from responses_reading import read

from ds4.api.access import Access
from ds4.api.keys import Keyring
from ds4.api.one_call import OneCall
from ds4.api.services import Limits
from ds4.core.errors import BadRequest, ContextOverflow, EngineError
from ds4.core.events import Failed, Reasoning, Text, ToolArgs, ToolEnd, ToolStart
from ds4.core.messages import Conversation, Role
from ds4.testing.asgi import Client, Reply

BODY: dict[str, Any] = {"model": "m", "input": "hi"}
ANSWER = [(Reasoning("Hm."), Text("Hello."), finish())]
CALL = [(Reasoning("Hm."), ToolStart(0, "call_x", "f"), ToolArgs(0, "{}"), ToolEnd(0), finish())]


def world(script: Any = ANSWER, **fields: Any) -> World:
    return World(FakeBackend(script), **fields)


def post(value: Any, made: World | None = None, path: str = "") -> Reply:
    return run((made or world()).client().post(f"/v1/responses{path}", value))


def rendered(**fields: Any) -> Conversation:
    made = world()
    reply = post(BODY | fields, made)
    assert reply.status == 200, reply.body
    return made.renderer.conversations[-1]


def texts(conversation: Conversation) -> list[tuple[str, str]]:
    return [(message.role.value, message.text) for message in conversation.messages]


def ask(client: Client, **fields: Any) -> Any:
    reply = run(client.post("/v1/responses", BODY | fields))
    assert reply.status == 200, reply.body
    return reply.json()


class TestRequest:
    def test_instructions_stand_in_front(self) -> None:
        assert texts(rendered(instructions="Be brief.")) == [("system", "Be brief."), ("user", "hi")]

    def test_the_published_schemas_fields_are_all_there(self) -> None:
        answer = post(BODY | {"metadata": {"a": "b"}, "max_output_tokens": 9, "temperature": 0}).json()
        assert (answer["metadata"], answer["max_output_tokens"], answer["temperature"]) == ({"a": "b"}, 9, 0)
        assert answer["text"] == {"format": {"type": "text"}}
        assert {"truncation", "service_tier", "parallel_tool_calls", "top_logprobs", "user"} <= answer.keys()

    def test_a_function_is_repeated_with_all_its_fields(self) -> None:
        answer = post(
            BODY | {"tools": [{"type": "function", "function": {"name": "f"}}, {"type": "web_search"}]}
        ).json()
        function = {"type": "function", "name": "f", "description": None, "parameters": None, "strict": None}
        assert answer["tools"] == [function, {"type": "web_search"}]

    def test_limits_and_sampling_reach_the_job(self) -> None:
        made = world()
        post(BODY | {"max_output_tokens": 5, "temperature": 0.5, "top_p": 0.9, "seed": 4}, made)
        job = made.backend.jobs[0]
        sampling = job.sampling
        assert (job.max_tokens, sampling.temperature, sampling.top_p, sampling.seed) == (5, 0.5, 0.9, 4)
        assert "RESPPROTO" in job.flags

    @pytest.mark.parametrize(("effort", "enabled"), [("high", None), ("none", False), (None, None)])
    def test_effort(self, effort: str | None, enabled: bool | None) -> None:
        thinking = rendered(reasoning={"effort": effort, "summary": None}).thinking
        assert (thinking.effort, thinking.enabled) == (effort, enabled)

    def test_one_call_at_a_time_is_the_readers_affair(self) -> None:
        made = world()
        post(BODY | {"parallel_tool_calls": False}, made)
        post(BODY | {"parallel_tool_calls": None}, made)
        assert [isinstance(job.reader, OneCall) for job in made.backend.jobs] == [True, False]

    def test_tools_of_the_first_items_are_at_the_head_and_shown_once(self) -> None:
        function = {"type": "function", "name": "f"}
        items = [
            {"type": "additional_tools", "role": "developer", "tools": [function]},
            {"role": "user", "content": "q"},
            {"type": "additional_tools", "role": "developer", "tools": [function, {**function, "name": "g"}]},
        ]
        conversation = rendered(input=items)
        assert [tool.name for tool in conversation.tools] == ["f"]
        assert [[tool.name for tool in message.tools] for message in conversation.messages] == [[], ["g"]]

    @pytest.mark.parametrize(
        ("choice", "names"),
        [
            ("auto", ["f", "g"]),
            ("none", []),
            # The prompt stays as it was, and with it what is cached of it.
            ({"type": "allowed_tools", "tools": [{"type": "function", "name": "g"}]}, ["f", "g"]),
            ({"type": "allowed_tools", "tools": [{"type": "web_search"}]}, []),
        ],
    )
    def test_which_tools_the_model_sees(self, choice: Any, names: list[str]) -> None:
        tools = [{"type": "function", "name": name} for name in "fg"]
        assert [tool.name for tool in rendered(tools=tools, tool_choice=choice).tools] == names

    @pytest.mark.parametrize(
        ("fields", "param"),
        [
            ({"tool_choice": "required"}, "tool_choice"),
            ({"tool_choice": {"type": "web_search"}}, "tool_choice"),
            ({"tool_choice": {"type": "function", "name": "f"}}, "tool_choice.name"),
            ({"tool_choice": {"type": "allowed_tools", "mode": "required", "tools": []}}, "tool_choice"),
            ({"text": {"format": {"type": "xml"}}}, "text.format"),
            ({"text": {"format": {"type": "json_schema", "name": "A"}}}, "text.format.schema"),
            ({"background": True}, "background"),
            ({"conversation": "conv_1"}, "conversation"),
            ({"prompt": {"id": "p"}}, "prompt"),
            ({"n": 2}, "n"),
            ({"previous_response_id": "resp_gone"}, "previous_response_id"),
            ({"input": None}, "input"),
            ({"input": []}, "input"),
            ({"input": 5}, "input"),
            ({"input": [5]}, "input.0"),
            ({"input": [{"type": "item_reference"}]}, "input.0.id"),
            ({"model": None}, "model"),
            ({"tools": "all"}, "tools"),
            ({"temperature": "hot"}, "temperature"),
        ],
    )
    def test_what_cannot_be_done_is_refused_by_name(self, fields: Any, param: str) -> None:
        reply = post(BODY | fields)
        assert (reply.status, reply.json()["error"]["param"]) == (400, param)

    @pytest.mark.parametrize(
        "fields",
        [
            {"background": False, "conversation": None, "truncation": "auto", "service_tier": "flex"},
            {"context_management": [{"type": "compaction"}], "client_metadata": {"a": 1}, "future": [1]},
            {"text": {"verbosity": "low", "format": {"type": "text"}}, "include": ["x"], "reasoning": None},
        ],
    )
    def test_what_does_not_matter_is_skipped(self, fields: Any) -> None:
        assert post(BODY | fields).status == 200

    def test_what_is_read_can_be_repeated_however_deep(self) -> None:
        deepest: Any = 1
        for _ in range(Limits().json_depth - 1):
            deepest = {"a": deepest}
        assert post(BODY | {"metadata": deepest}).json()["metadata"] == deepest
        assert post(BODY | {"metadata": {"a": deepest}}).status == 400

    def test_errors_of_rendering_blame_the_fields_of_this_api(self) -> None:
        renderer = FakeRenderer(BadRequest("no such effort", param="reasoning_effort"))
        reply = post(BODY, world(renderer=renderer))
        assert reply.json()["error"]["param"] == "reasoning.effort"

    @pytest.mark.parametrize("stream", [True, False])
    def test_a_prompt_that_does_not_fit_is_refused_before_the_stream(self, stream: bool) -> None:
        reply = post(BODY | {"stream": stream}, World(FakeBackend(refusal=ContextOverflow(120, 100))))
        error = reply.json()["error"]
        assert (reply.status, error["code"], error["param"]) == (400, "context_length_exceeded", "input")
        assert error["message"].startswith(
            "This model's maximum context length is 100 tokens. However, your request"
        )

    def test_a_failure_is_a_status_where_there_is_no_stream_and_is_logged_once_where_there_is(self) -> None:
        failing = [(Failed(EngineError("decode failed")),)]
        assert post(BODY, world(failing)).status == 500
        made = world(failing)
        assert read(post(BODY | {"stream": True}, made).body).names[-1] == "failed"
        assert len(made.records) == 1


class TestStore:
    def test_the_next_response_goes_on_from_the_last(self) -> None:
        made = world()
        client = made.client()
        first = ask(client, input="My name is Ada.", instructions="Be brief.")
        second = ask(client, input="And?", previous_response_id=first["id"])
        ask(client, input="So?", previous_response_id=second["id"])
        assert texts(made.renderer.conversations[-1]) == [
            ("user", "My name is Ada."),
            ("assistant", "Hello."),
            ("user", "And?"),
            ("assistant", "Hello."),
            ("user", "So?"),
        ]
        assert made.renderer.conversations[-1].messages[1].reasoning == "Hm."
        assert second["previous_response_id"] == first["id"]

    def test_a_result_goes_to_the_call_of_the_last_response(self) -> None:
        made = world(CALL)
        client = made.client()
        first = ask(client)
        result = {"type": "function_call_output", "call_id": "call_x", "output": "1"}
        ask(client, input=[result], previous_response_id=first["id"])
        assert [m.role for m in made.renderer.conversations[-1].messages] == [
            Role.USER,
            Role.ASSISTANT,
            Role.TOOL,
        ]

    def test_a_result_alone_says_what_to_do(self) -> None:
        reply = post(BODY | {"input": [{"type": "function_call_output", "call_id": "c", "output": "1"}]})
        assert reply.status == 400
        assert "retry by replaying the full input history" in reply.json()["error"]["message"]

    def test_references_are_what_they_refer_to(self) -> None:
        made = world(CALL)
        client = made.client()
        reasoning, call = ask(client)["output"]
        references = [{"type": "item_reference", "id": item["id"]} for item in (reasoning, call)]
        result = {"type": "function_call_output", "call_id": "call_x", "output": "1"}
        ask(client, input=[{"role": "user", "content": "hi"}, *references, result])
        _, turn, _ = made.renderer.conversations[-1].messages
        assert (turn.reasoning, turn.tool_calls[0].name) == ("Hm.", "f")

    def test_a_reference_to_what_is_gone_is_left_out_and_reported(self) -> None:
        made = world()
        ask(made.client(), input=[{"role": "user", "content": "hi"}, {"id": "rs_gone"}])
        assert "rs_gone" in str(made.records)

    def test_a_stored_response_can_be_had_listed_and_forgotten(self) -> None:
        client = world().client()
        answer = ask(
            client, input=[{"role": "user", "content": "a"}, {"role": "user", "content": "b", "id": "own"}]
        )
        path = f"/v1/responses/{answer['id']}"
        assert run(client.get(path)).json() == answer
        listed = run(client.get(f"{path}/input_items?order=asc&limit=1")).json()
        assert (listed["has_more"], listed["data"][0]["content"][0]["text"]) == (True, "a")
        rest = run(client.get(f"{path}/input_items?order=asc&after={listed['last_id']}")).json()
        assert ([item["id"] for item in rest["data"]], rest["has_more"]) == (["own"], False)
        assert run(client.get(f"{path}/input_items")).json()["first_id"] == "own"
        assert run(client.request("DELETE", path)).json() == {
            "id": answer["id"],
            "object": "response",
            "deleted": True,
        }
        assert run(client.get(path)).status == 404
        assert run(client.request("DELETE", path)).status == 404

    def test_what_is_not_to_be_stored_is_not(self) -> None:
        client = world().client()
        answer = ask(client, store=False)
        assert run(client.get(f"/v1/responses/{answer['id']}")).status == 404
        reply = run(client.post("/v1/responses", BODY | {"previous_response_id": answer["id"]}))
        assert (reply.status, reply.json()["error"]["code"]) == (400, "previous_response_not_found")

    def test_streams_are_stored_too(self) -> None:
        client = world().client()
        response = read(run(client.post("/v1/responses", BODY | {"stream": True})).body).response
        assert run(client.get(f"/v1/responses/{response['id']}")).json() == response

    def test_nobody_sees_what_another_key_has_stored(self) -> None:
        made = world(access=Access(keys=Keyring.of(["mine", "other"])))
        client = made.client()

        def send(method: str, path: str, key: str, value: Any = None) -> Reply:
            return run(
                client.request(method, f"/v1/responses{path}", value=value, headers={"x-api-key": key})
            )

        answer = send("POST", "", "mine", BODY).json()
        path, message = f"/{answer['id']}", answer["output"][-1]["id"]
        assert [send("GET", path, key).status for key in ("mine", "other")] == [200, 404]
        assert send("DELETE", path, "other").status == 404
        assert send("POST", "", "other", BODY | {"previous_response_id": answer["id"]}).status == 400
        send(
            "POST",
            "",
            "other",
            BODY | {"input": [{"id": message}, {"role": "user", "content": "y"}]},
        )
        assert texts(made.renderer.conversations[-1]) == [("user", "y")]

    def test_a_finished_response_cannot_be_cancelled(self) -> None:
        client = world().client()
        answer = ask(client)
        assert run(client.post(f"/v1/responses/{answer['id']}/cancel", {})).status == 400
        assert run(client.post("/v1/responses/resp_gone/cancel", {})).status == 404

    @pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "limit=٣"])
    def test_a_page_has_a_size(self, query: str) -> None:
        client = world().client()
        answer = ask(client)
        reply = run(client.get(f"/v1/responses/{answer['id']}/input_items?{query}"))
        assert (reply.status, reply.json()["error"]["param"]) == (400, "limit")


class TestTokensAndCompaction:
    def test_input_tokens_are_those_of_the_prompt(self) -> None:
        counted = post({"input": "hi", "tools": []}, path="/input_tokens").json()
        assert counted == {"object": "response.input_tokens", "input_tokens": len("[user]hi")}

    def test_a_compaction_stands_for_the_history(self) -> None:
        made = world([(Reasoning("Hm."), Text(" They agreed. "), finish())])
        client = made.client()
        items = [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "long"}]
        short = run(client.post("/v1/responses/compact", {"model": "m", "input": items})).json()
        assert (short["object"], short["usage"]["total_tokens"]) == ("response.compaction", 12)
        assert [item["type"] for item in short["output"]] == ["message", "compaction"]
        assert "summary" in made.renderer.conversations[0].messages[-1].text
        ask(client, input=[*short["output"], {"role": "user", "content": "go on"}])
        told = texts(made.renderer.conversations[-1])
        assert [role for role, _ in told] == ["developer", "user", "user"]
        assert told[1][1].endswith("They agreed.")

    def test_a_compaction_needs_a_model_and_a_summary(self) -> None:
        assert post({"input": "x"}, path="/compact").status == 400
        assert post(BODY, world([(finish(),)]), path="/compact").status == 500


def test_an_offer_to_upgrade_is_answered_like_any_get() -> None:
    reply = run(world().client().get("/v1/responses", {"upgrade": "websocket", "connection": "upgrade"}))
    assert (reply.status, reply.headers["allow"]) == (405, "POST, OPTIONS")
    assert json.loads(reply.body)["error"]["message"]
