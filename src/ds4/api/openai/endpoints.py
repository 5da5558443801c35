"""The endpoints that answer with generated text, and the one that shows the prompt."""

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from ds4.api.access import namespace_of
from ds4.api.body import JsonObject, parsed
from ds4.api.boundary import name_request
from ds4.api.delivery import Delivery
from ds4.api.early import prepared, refuse_long, refuse_overlong
from ds4.api.one_call import one_call
from ds4.api.openai.chat import ChatRequest, chat_request, conversation_of
from ds4.api.openai.chat_wire import ChatWire
from ds4.api.openai.choices import Shape, jobs_of
from ds4.api.openai.completion_wire import CompletionWire
from ds4.api.openai.completions import CompletionRequest, completion_request
from ds4.api.openai.generation import Wanted
from ds4.api.openai.normalised import normalised
from ds4.api.race import while_connected
from ds4.api.reply import json_reply
from ds4.api.services import Services, Wished
from ds4.api.sse import Head
from ds4.api.wishes import wished
from ds4.core.constraint import Constraint
from ds4.core.job import Job, JobKind
from ds4.core.messages import Conversation
from ds4.core.plan import PromptPlan

Jobs = tuple[Job, ...]


async def chat(services: Services, request: Request) -> ASGIApp:
    request_id = _named(services, request, "chatcmpl-")
    card, n_vocab = services.card, services.tokenizer.n_vocab

    def parse(raw: JsonObject) -> tuple[ChatRequest, tuple[str, ...]]:
        found = normalised(raw, services.as_sent)
        return chat_request(found.body, card, n_vocab), found.names

    asked, changes = await parsed(request, services, parse)
    namespace = namespace_of(request.scope)
    want = asked.wanted
    jobs = await prepared(
        request, services, lambda: _chat_jobs(services, request_id, namespace, asked), choices=want.n
    )
    head = Head(request_id, "chat.completion", int(services.clock.wall()), want.model)
    jobs = tuple(replace(job, normalised=changes) for job in jobs)
    shape = replace(_shape(services, want, prompts=1), old_words=asked.old_words, custom=asked.custom)
    wire = ChatWire(head, shape)
    return Delivery(services, jobs, wire, stream=want.stream)


def _chat_jobs(services: Services, request_id: str, namespace: str, asked: ChatRequest) -> Jobs:
    conversation = replace(asked.conversation, namespace=namespace)
    refuse_overlong(services, conversation)
    plan, want = services.renderer.render(conversation), asked.wanted
    wish = wished(plan, conversation, want.stops, asked.constraint, tokens=want.logprobs)
    reader = one_call(services.reader) if asked.one_call else services.reader
    return jobs_of(request_id, [wish], want, reader, services.guide, _flags(conversation))


async def completions(services: Services, request: Request) -> ASGIApp:
    request_id = _named(services, request, "cmpl-")
    card, n_vocab = services.card, services.tokenizer.n_vocab
    asked = await parsed(request, services, lambda raw: completion_request(raw, card, n_vocab))
    namespace = namespace_of(request.scope)
    want = asked.wanted
    jobs = await prepared(
        request,
        services,
        lambda: _completion_jobs(services, request_id, namespace, asked),
        choices=len(asked.prompts) * want.n,
        blamed="n" if want.n > 1 else "prompt",
    )
    head = Head(request_id, "text_completion", int(services.clock.wall()), want.model)
    echoes = [job.plan.text for job in jobs] if asked.echo else []
    wire = CompletionWire(head, _shape(services, want, prompts=len(asked.prompts)), echoes)
    return Delivery(services, jobs, wire, stream=want.stream)


def _completion_jobs(services: Services, request_id: str, namespace: str, asked: CompletionRequest) -> Jobs:
    for prompt in asked.prompts:
        if isinstance(prompt, str):
            refuse_long(services, [prompt])
    want = asked.wanted
    plans = [services.renderer.raw(prompt, namespace=namespace) for prompt in asked.prompts]
    form = None if asked.form is None else Constraint(asked.form)
    wishes = [
        Wished(JobKind.COMPLETION, plan, want.stops, tokens=want.logprobs, constraint=form) for plan in plans
    ]
    return jobs_of(request_id, wishes, want, services.reader, services.guide)


async def apply_template(services: Services, request: Request) -> Response:
    sent = await parsed(
        request,
        services,
        lambda raw: conversation_of(normalised(raw, services.as_sent).body, services.card),
    )
    conversation = replace(sent, namespace=namespace_of(request.scope))
    rendering = services.run(lambda: services.renderer.render(conversation))
    plan = await while_connected(request.receive, rendering)
    return json_reply({"prompt": _prompt_text(services, plan), "tokens": plan.ids.tolist()})


def _prompt_text(services: Services, plan: PromptPlan) -> str:
    """What the template wrote; with answers in it that are replayed, what the tokens spell."""
    if not plan.replay.turns:
        return plan.text
    return b"".join(map(services.tokenizer.piece, plan.ids.tolist())).decode(errors="replace")


def _named(services: Services, request: Request, prefix: str) -> str:
    request_id = services.ids.new(prefix)
    name_request(request.scope, request_id)
    return request_id


def _flags(conversation: Conversation) -> tuple[str, ...]:
    flags = {"TOOLS": bool(conversation.tools), "THINKING": bool(conversation.thinking.enabled)}
    return tuple(name for name, given in flags.items() if given)


def _shape(services: Services, want: Wanted, *, prompts: int) -> Shape:
    pieces = services.tokenizer.piece if want.logprobs else None
    return Shape(prompts, want.n, want.include_usage, pieces)
