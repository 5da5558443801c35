"""The endpoints that make something of input items: an answer, a count, a summary."""

from contextlib import suppress
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from ds4.api.access import namespace_of
from ds4.api.body import JsonObject, parsed
from ds4.api.boundary import name_request
from ds4.api.delivery import Delivery, Settle
from ds4.api.early import prepared, refuse_overlong
from ds4.api.one_call import OneCall
from ds4.api.openai.generation import Generation, Wanted, wanted
from ds4.api.race import while_connected
from ds4.api.reply import json_reply
from ds4.api.responses.compact import CompactRequest, CompactWire, compact_request
from ds4.api.responses.composer import Composer, Style
from ds4.api.responses.document import document
from ds4.api.responses.normalised import normalised
from ds4.api.responses.request import Asked, InputBody, ResponseRequest, asked_of, response_request
from ds4.api.responses.resolve import Shelf, kept
from ds4.api.responses.store import Item, Stored
from ds4.api.responses.wire import Keep, ResponseWire
from ds4.api.services import Services
from ds4.api.validate import validated
from ds4.api.wishes import wished
from ds4.core.constraint import Constraint
from ds4.core.errors import BadRequest, Overloaded
from ds4.core.job import Job, JobKind
from ds4.core.plan import PromptPlan
from ds4.observe.records import Notice

_BLAMED = {"messages": "input", "reasoning_effort": "reasoning.effort"}
"""The fields that errors of rendering are about, by the names they have here."""


async def responses(services: Services, request: Request) -> ASGIApp:
    response_id, shelf = _named(services, request, "resp_"), shelf_of(services, request)
    card, n_vocab = services.card, services.tokenizer.n_vocab

    def parse(raw: JsonObject) -> tuple[ResponseRequest, object, tuple[str, ...]]:
        found = normalised(raw, services.as_sent)
        return response_request(found.body, card, n_vocab, shelf), raw.get("tools"), found.names

    asked, tools, changes = await parsed(request, services, parse, blocks=True)
    _report_lost(services, response_id, asked.asked)
    job = await prepared(
        request, services, lambda: _response_job(services, response_id, shelf.namespace, asked)
    )
    job = replace(job, normalised=changes)
    created = int(services.clock.wall())
    wire = ResponseWire(
        document(response_id, created, asked.body, asked.wanted, tools),
        Composer(_style(services, asked)),
        services.clock.wall,
        _keep(services, response_id, shelf, asked),
    )
    return Delivery(
        services,
        [job],
        wire,
        stream=asked.wanted.stream,
        last_words=wire.last_words,
        settle=_settle(services, asked),
    )


async def count_input_tokens(services: Services, request: Request) -> Response:
    request_id, shelf = _named(services, request, "req-"), shelf_of(services, request)
    asked = await parsed(
        request,
        services,
        lambda raw: asked_of(
            validated(InputBody, normalised(raw, services.as_sent).body), services.card, shelf
        ),
        blocks=True,
    )
    _report_lost(services, request_id, asked)
    rendering = services.run(lambda: _plan(services, shelf.namespace, asked))
    plan = await while_connected(request.receive, rendering)
    return json_reply({"object": "response.input_tokens", "input_tokens": plan.rows})


async def compact(services: Services, request: Request) -> ASGIApp:
    answer_id, shelf = _named(services, request, "resp_"), shelf_of(services, request)

    def parse(raw: JsonObject) -> tuple[CompactRequest, tuple[str, ...]]:
        found = normalised(raw, services.as_sent)
        return compact_request(found.body, services.card, shelf), found.names

    asked, changes = await parsed(request, services, parse, blocks=True)
    _report_lost(services, answer_id, asked.asked)
    want = wanted(Generation(), services.card, services.tokenizer.n_vocab, None)
    job = await prepared(
        request, services, lambda: _job(services, answer_id, shelf.namespace, asked.asked, want)
    )
    job = replace(job, normalised=changes)
    wire = CompactWire(answer_id, int(services.clock.wall()), asked.instructions, services.ids.new)
    return Delivery(services, [job], wire, stream=False)


def shelf_of(services: Services, request: Request) -> Shelf:
    return Shelf(services.responses, namespace_of(request.scope))


def _response_job(services: Services, job_id: str, namespace: str, asked: ResponseRequest) -> Job:
    job = _job(services, job_id, namespace, asked.asked, asked.wanted, asked.constraint)
    return job if asked.body.parallel_tool_calls else replace(job, reader=OneCall(job.reader))


def _job(
    services: Services,
    job_id: str,
    namespace: str,
    asked: Asked,
    want: Wanted,
    constraint: Constraint | None = None,
) -> Job:
    conversation = asked.conversation
    refuse_overlong(services, conversation)
    plan = _plan(services, namespace, asked)
    wish = wished(plan, conversation, want.stops, constraint, tokens=want.logprobs)
    flags = {"RESPPROTO": True, "TOOLS": bool(wish.tools), "THINKING": bool(conversation.thinking.enabled)}
    return Job(
        id=job_id,
        kind=JobKind.CHAT,
        plan=plan,
        sampling=want.sampling,
        max_tokens=want.max_tokens,
        reader=services.reader(wish),
        flags=tuple(name for name, given in flags.items() if given),
        guide=services.guide(wish),
    )


def _plan(services: Services, namespace: str, asked: Asked) -> PromptPlan:
    try:
        return services.renderer.render(replace(asked.conversation, namespace=namespace))
    except BadRequest as error:
        error.param = _BLAMED.get(error.param or "", error.param)
        raise


def _style(services: Services, asked: ResponseRequest) -> Style:
    return Style(
        asked.asked.tools,
        services.ids.new,
        shows_reasoning=asked.body.reasoning.shown,
        pieces=services.tokenizer.piece if asked.wanted.logprobs else None,
    )


def _keep(services: Services, response_id: str, shelf: Shelf, asked: ResponseRequest) -> Keep:
    resolved = asked.asked.resolved

    def keep(body: bytes, output: tuple[Item, ...]) -> None:
        new = kept(resolved.new, services.ids.new)
        shelf.store.put(shelf.namespace, Stored(response_id, body, resolved.earlier, new, output))

    return keep if asked.body.store else _forget


def _forget(body: bytes, output: tuple[Item, ...]) -> None:
    pass


def _settle(services: Services, asked: ResponseRequest) -> Settle:
    """A client that has an answer can go on from it, whatever becomes of this process."""

    async def settle() -> None:
        if asked.body.store:
            # With no thread free for it, what waits is written with the next one.
            with suppress(Overloaded):
                await services.run(services.responses.flush)

    return settle


def _report_lost(services: Services, request_id: str, asked: Asked) -> None:
    if asked.resolved.lost:
        lost = ", ".join(asked.resolved.lost)
        services.observe(Notice(f"request {request_id} refers to items that are gone: {lost}", "warning"))


def _named(services: Services, request: Request, prefix: str) -> str:
    request_id = services.ids.new(prefix)
    name_request(request.scope, request_id)
    return request_id
