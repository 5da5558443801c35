"""From a Config to running parts: the only place that names concrete classes side by side."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ds4 import __version__
from ds4.api.services import Alias, ModelCard, Services
from ds4.config import Config, EngineName, ModelChoice
from ds4.core.clock import RandomIds, SystemClock
from ds4.core.errors import OptionError
from ds4.core.job import JobKind
from ds4.core.ports import Backend, Engine, Ids, Reader
from ds4.engine.llama import LlamaEngine, LlamaOptions, LlamaTokenizer, read_model_header
from ds4.engine.scripted.engine import ScriptedEngine, ScriptedOptions
from ds4.formats.family import Family
from ds4.formats.registry import detect, family_named
from ds4.observe.records import Observer
from ds4.parsing.reader import text_reader
from ds4.prompt.renderer import PromptRenderer
from ds4.schedule.scheduler import Limits

SCRIPTED_FAMILY = "chatml"
DEFAULT_CHUNK = 2048
"""Rows per engine step at most. Larger steps gain nothing on a CPU and delay a cancel."""


@dataclass(frozen=True, slots=True)
class Blueprint:
    """What to serve: how to open the engine, in which format, under which name.

    `bos` and `eos` are the spellings the template may print.
    """

    open_engine: Callable[[], Engine]
    family: Family
    template: str
    bos: str
    eos: str
    model_id: str


def blueprint(config: Config, choice: ModelChoice | None) -> Blueprint:
    """Reads the model file's header, not the model. Raises StartError."""
    if choice is None:
        family = family_named(config.model_family or SCRIPTED_FAMILY)
        opener = _scripted(config, family, None)
        return Blueprint(opener, family, family.template, family.bos or "", family.eos or "", "scripted")
    header = read_model_header(choice.path)
    named = family_named(config.model_family) if config.model_family else None
    family = named or detect(header.arch, header.controls)
    # A family named on the command line wins over the file, its template included.
    template = family.template if named else header.chat_template or family.template
    scripted = config.engine is EngineName.SCRIPTED
    opener = _scripted(config, family, choice.path) if scripted else _llama(config, family, choice.path)
    return Blueprint(opener, family, template, header.bos, header.eos, model_id(choice.path))


def model_id(path: Path) -> str:
    """The file's name without its ending and without the number of a split part."""
    return path.stem.split("-00001-of-")[0]


def limits(config: Config, engine: Engine) -> Limits:
    quantum = max(config.mixed_prefill_quantum, engine.caps.min_quantum)
    return Limits(quantum=quantum, chunk=min(config.prefill_chunk or DEFAULT_CHUNK, engine.info.n_batch))


def services(
    config: Config, plan: Blueprint, engine: Engine, backend: Backend, ids: Ids, observe: Observer
) -> Services:
    clock = SystemClock()
    info, tokenizer = engine.info, engine.tokenizer
    renderer = PromptRenderer(tokenizer, plan.template, clock, bos_token=plan.bos, eos_token=plan.eos)
    card = ModelCard(
        id=plan.model_id,
        name=info.name,
        n_ctx=info.n_ctx,
        max_tokens=config.tokens,
        aliases=tuple(Alias(name, _alias_thinking(name)) for name in plan.family.aliases),
    )
    return Services(
        backend=backend,
        renderer=renderer,
        reader=_reader,
        tokenizer=tokenizer,
        card=card,
        clock=clock,
        ids=ids,
        observe=observe,
        version=__version__,
        started=clock.now(),
        cors=config.cors,
    )


def new_ids() -> Ids:
    return RandomIds()


def _alias_thinking(name: str) -> bool | None:
    """deepseek-chat and deepseek-reasoner say in their name whether to think."""
    return {"deepseek-chat": False, "deepseek-reasoner": True}.get(name)


def _reader(kind: JobKind, stops: tuple[str, ...]) -> Reader:
    # The text of a raw completion is the caller's whole affair, control tokens included.
    return text_reader(stops, show_control=kind is JobKind.COMPLETION)


def _scripted(config: Config, family: Family, model: Path | None) -> Callable[[], Engine]:
    if config.script is None:
        raise OptionError("--engine scripted needs --script FILE")
    options = ScriptedOptions(
        script=config.script,
        family=family,
        n_ctx=config.ctx,
        n_slots=config.n_slots,
        n_batch=config.prefill_chunk or DEFAULT_CHUNK,
        tokenizer=None if model is None else LlamaTokenizer.open(model),
    )
    return lambda: ScriptedEngine.open(options)


def _llama(config: Config, family: Family, model: Path) -> Callable[[], Engine]:
    options = LlamaOptions(
        model=model,
        n_ctx=config.ctx,
        ctx_given="ctx" in config.given,
        n_slots=config.n_slots,
        n_batch=config.prefill_chunk or DEFAULT_CHUNK,
        backend=config.backend,
        n_gpu_layers=-1 if config.n_gpu_layers is None else config.n_gpu_layers,
        flash_attn=config.flash_attn,
        kv_type=config.kv_type,
        threads=config.threads,
        threads_batch=config.threads_batch,
        family=family.name,
        min_quantum=family.min_quantum,
    )
    return lambda: LlamaEngine.open(options)
