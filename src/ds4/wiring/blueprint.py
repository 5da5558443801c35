"""What to serve, decided from the options and the model file's header."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ds4.config import Config, EngineName, ModelChoice
from ds4.core.errors import OptionError
from ds4.core.ports import Engine
from ds4.engine.llama import LlamaEngine, LlamaOptions, LlamaTokenizer, read_model_header
from ds4.engine.scripted.engine import ScriptedEngine, ScriptedOptions
from ds4.formats.family import Family
from ds4.formats.markup import Reasoning, ToolFormat
from ds4.formats.registry import detect, family_named
from ds4.formats.templates import tool_format
from ds4.formats.tools.registry import tool_format_named

SCRIPTED_FAMILY = "chatml"
DEFAULT_CHUNK = 2048
"""Rows per engine step at most. Larger steps gain nothing on a CPU and delay a cancel."""


@dataclass(frozen=True, slots=True)
class AnswerStyle:
    """How the model sets off reasoning and writes tool calls."""

    reasoning: Reasoning
    tools: ToolFormat

    @property
    def marks(self) -> Reasoning:
        """A format with channels has marks of its own."""
        return self.tools.channels.reasoning if self.tools.channels else self.reasoning


@dataclass(frozen=True, slots=True)
class Blueprint:
    """What to serve: how to open the engine, in which format, under which name.

    `template` is Jinja source or the name of a built-in layout; `bos` and `eos` are the spellings it may
    print.
    """

    open_engine: Callable[[], Engine]
    family: Family
    style: AnswerStyle
    template: str
    bos: str
    eos: str
    model_id: str


def blueprint(config: Config, choice: ModelChoice | None) -> Blueprint:
    """Reads the model file's header, not the model. Raises StartError."""
    named = family_named(config.model_family) if config.model_family else None
    if choice is None:
        family = named or family_named(SCRIPTED_FAMILY)
        opener = _scripted(config, family, None)
        style = answer_style(config, family, family.template)
        return Blueprint(
            opener, family, style, family.template, family.bos or "", family.eos or "", "scripted"
        )
    header = read_model_header(choice.path)
    family = named or detect(header.arch, header.controls)
    # A family named on the command line wins over the file, its template included.
    template = family.template if named else header.chat_template or family.template
    scripted = config.engine is EngineName.SCRIPTED
    opener = _scripted(config, family, choice.path) if scripted else _llama(config, family, choice.path)
    style = answer_style(config, family, template)
    return Blueprint(opener, family, style, template, header.bos, header.eos, model_id(choice.path))


def answer_style(config: Config, family: Family, template: str) -> AnswerStyle:
    named = tool_format_named(config.tool_format) if config.tool_format else None
    return AnswerStyle(family.reasoning, named or tool_format(family, template))


def model_id(path: Path) -> str:
    """The file's name without its ending and without the number of a split part."""
    return path.stem.split("-00001-of-")[0]


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
        mlock=config.mlock,
        warm_weights=config.warm_weights,
        threads=config.threads,
        threads_batch=config.threads_batch,
        family=family.name,
        min_quantum=family.min_quantum,
    )
    return lambda: LlamaEngine.open(options)
