"""The endpoints that answer with generated text, and the one that shows the prompt."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from ds4.api.body import parsed
from ds4.api.boundary import name_request
from ds4.api.delivery import Delivery
from ds4.api.openai.chat import chat_request, conversation_of
from ds4.api.openai.chat_wire import ChatWire
from ds4.api.openai.completion_wire import CompletionWire
from ds4.api.openai.completions import completion_request
from ds4.api.openai.generation import Wanted
from ds4.api.reply import json_reply
from ds4.api.services import Services
from ds4.api.sse import Head
from ds4.core.job import Job, JobKind
from ds4.core.messages import Conversation
from ds4.core.plan import PromptPlan


async def chat(services: Services, request: Request) -> ASGIApp:
    request_id = _named(services, request, "chatcmpl-")
    card, n_vocab = services.card, services.tokenizer.n_vocab
    asked = await parsed(request, services, lambda raw: chat_request(raw, card, n_vocab))
    plan = await services.run(lambda: services.renderer.render(asked.conversation))
    job = _job(services, request_id, JobKind.CHAT, plan, asked.wanted, _flags(asked.conversation))
    head = Head(request_id, "chat.completion", int(services.clock.wall()), asked.wanted.model)
    wire = ChatWire(head, include_usage=asked.wanted.include_usage)
    return Delivery(services, job, wire, stream=asked.wanted.stream)


async def completions(services: Services, request: Request) -> ASGIApp:
    request_id = _named(services, request, "cmpl-")
    card, n_vocab = services.card, services.tokenizer.n_vocab
    asked = await parsed(request, services, lambda raw: completion_request(raw, card, n_vocab))
    plan = await services.run(lambda: services.renderer.raw(asked.prompt))
    job = _job(services, request_id, JobKind.COMPLETION, plan, asked.wanted, ())
    head = Head(request_id, "text_completion", int(services.clock.wall()), asked.wanted.model)
    wire = CompletionWire(head, include_usage=asked.wanted.include_usage)
    return Delivery(services, job, wire, stream=asked.wanted.stream)


async def apply_template(services: Services, request: Request) -> Response:
    conversation = await parsed(request, services, lambda raw: conversation_of(raw, services.card))
    plan = await services.run(lambda: services.renderer.render(conversation))
    return json_reply({"prompt": plan.text, "tokens": plan.ids.tolist()})


def _named(services: Services, request: Request, prefix: str) -> str:
    request_id = services.ids.new(prefix)
    name_request(request.scope, request_id)
    return request_id


def _flags(conversation: Conversation) -> tuple[str, ...]:
    flags = {"TOOLS": bool(conversation.tools), "THINKING": bool(conversation.thinking.enabled)}
    return tuple(name for name, given in flags.items() if given)


def _job(
    services: Services, request_id: str, kind: JobKind, plan: PromptPlan, want: Wanted, flags: tuple[str, ...]
) -> Job:
    reader = services.reader(kind, want.stops)
    return Job(request_id, kind, plan, want.sampling, want.max_tokens, reader, flags)
