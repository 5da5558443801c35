"""The parts that answer requests, once the engine is open."""

from functools import cache

from ds4 import __version__
from ds4.api.access import Access
from ds4.api.early import longest_piece
from ds4.api.responses.durable import open_store
from ds4.api.services import Alias, ModelCard, Services
from ds4.config import Config
from ds4.core.clock import RandomIds, SystemClock
from ds4.core.ports import Backend, Clock, Engine, Ids, Tokenizer
from ds4.kv.replay.notebook import Notebook
from ds4.observe.records import Observer
from ds4.observe.requests import Journal
from ds4.prompt.renderer import PromptRenderer
from ds4.schedule.scheduler import Limits
from ds4.wiring.answers import readers
from ds4.wiring.blueprint import DEFAULT_CHUNK, Blueprint
from ds4.wiring.guides import guides
from ds4.wiring.prompts import prompt_options
from ds4.wiring.replaying import replaying

SYSTEM_CLOCK = SystemClock()


def limits(config: Config, engine: Engine) -> Limits:
    return Limits(config.mixed_prefill_quantum, config.prefill_chunk or DEFAULT_CHUNK).within(engine)


def services(
    config: Config,
    plan: Blueprint,
    engine: Engine,
    backend: Backend,
    ids: Ids,
    observe: Observer,
    journal: Journal,
    access: Access,
    notebook: Notebook | None,
    clock: Clock = SYSTEM_CLOCK,
    *,
    vocabulary: Tokenizer,
) -> Services:
    """Guides ask every piece of `vocabulary`: the engine's tokenizer or, where watched, what is in it."""
    info, tokenizer = engine.info, engine.tokenizer
    templated = PromptRenderer(
        tokenizer,
        plan.template,
        clock,
        bos_token=plan.bos,
        eos_token=plan.eos,
        options=prompt_options(config, plan.family, plan.template, info.n_ctx, observe),
    )
    card = ModelCard(
        id=plan.model_id,
        name=info.name,
        n_ctx=info.n_ctx,
        max_tokens=config.tokens,
        aliases=tuple(Alias(alias.name, alias.thinking) for alias in plan.family.aliases),
    )
    return Services(
        backend=backend,
        renderer=replaying(templated, notebook, tokenizer),
        reader=readers(plan.style, tokenizer, ids, observe),
        tokenizer=tokenizer,
        card=card,
        clock=clock,
        ids=ids,
        observe=observe,
        journal=journal,
        version=__version__,
        started=clock.now(),
        access=access,
        longest_piece=cache(lambda: longest_piece(tokenizer)),
        as_sent=config.as_sent,
        guide=guides(plan.style, vocabulary, observe, prepared=True),
        responses=open_store(config.kv_disk_dir, observe),
    )


def new_ids() -> Ids:
    return RandomIds()
