"""POST /v1/messages, POST /v1/messages/count_tokens, and the greeting that Claude Code sends first."""

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from ds4.api.access import namespace_of
from ds4.api.anthropic.request import MessagesRequest, count_request, messages_request
from ds4.api.anthropic.wire import MessagesWire, Shape
from ds4.api.body import parsed
from ds4.api.boundary import name_request
from ds4.api.delivery import Delivery
from ds4.api.early import prepared, refuse_overlong
from ds4.api.one_call import OneCall
from ds4.api.race import while_connected
from ds4.api.reply import json_reply
from ds4.api.services import Services
from ds4.api.wishes import wished
from ds4.core.job import Job, JobKind


async def messages(services: Services, request: Request) -> ASGIApp:
    message_id = services.ids.new("msg_")
    name_request(request.scope, message_id)
    card, as_sent = services.card, services.as_sent
    asked = await parsed(request, services, lambda raw: messages_request(raw, card, as_sent))
    namespace = namespace_of(request.scope)
    job = await prepared(request, services, lambda: _job(services, message_id, namespace, asked))
    wire = MessagesWire(_shape(job, asked), services.clock.now)
    return Delivery(services, [job], wire, stream=asked.stream)


async def count_tokens(services: Services, request: Request) -> Response:
    name_request(request.scope, services.ids.new("req-"))
    card, as_sent = services.card, services.as_sent
    talk = await parsed(request, services, lambda raw: count_request(raw, card, as_sent))
    conversation = replace(talk.conversation, namespace=namespace_of(request.scope))
    rendering = services.run(lambda: services.renderer.render(conversation))
    plan = await while_connected(request.receive, rendering)
    return json_reply({"input_tokens": plan.rows})


async def hello(services: Services, request: Request) -> Response:  # noqa: ARG001
    return json_reply({"name": "ds4-server"})


def _job(services: Services, message_id: str, namespace: str, asked: MessagesRequest) -> Job:
    conversation = replace(asked.talk.conversation, namespace=namespace)
    refuse_overlong(services, conversation)
    plan = services.renderer.render(conversation)
    wish = wished(plan, conversation, asked.stops, asked.constraint)
    reader = services.reader(wish)
    return Job(
        id=message_id,
        kind=JobKind.CHAT,
        plan=plan,
        sampling=asked.sampling,
        max_tokens=asked.max_tokens,
        reader=OneCall(reader) if asked.talk.choice.one_call else reader,
        flags=asked.talk.flags,
        normalised=asked.talk.normalised,
        guide=services.guide(wish),
    )


def _shape(job: Job, asked: MessagesRequest) -> Shape:
    return Shape(
        id=job.id,
        model=asked.model,
        prompt=job.plan.rows,
        caching=asked.caching,
        thinks=asked.talk.conversation.thinking.enabled is not False,
        shows_thinking=asked.talk.shows_thinking,
    )
