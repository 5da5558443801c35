"""The first line of a run: what server it was, with all that its answers depend on."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ds4 import __version__
from ds4.api.access import Access
from ds4.api.early import longest_piece
from ds4.api.services import Limits as ApiLimits
from ds4.api.services import ModelCard, Services
from ds4.core.ports import Engine, Tokenizer
from ds4.core.step import Caps, MemoryUse, ModelInfo
from ds4.formats.preamble import Preamble
from ds4.kv.policy import Knobs
from ds4.kv.replay.notebook import Options as ReplayOptions
from ds4.observe.trace.reading import VERSION
from ds4.observe.trace.values import Json, plain
from ds4.prompt.options import PromptOptions
from ds4.schedule.scheduler import CachePlan, Limits


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """`controls`: id by spelling; `hidden` and `eog`: ids. `longest`: bytes of the longest piece."""

    n_vocab: int
    bos: int | None
    eos: int | None
    controls: Mapping[str, int]
    hidden: tuple[int, ...]
    eog: tuple[int, ...]
    longest: int


@dataclass(frozen=True, slots=True)
class Model:
    """`tool_format` by name. `template` is Jinja source or a built-in layout's name."""

    info: ModelInfo
    caps: Caps
    memory: MemoryUse
    family: str
    tool_format: str
    template: str
    bos: str
    eos: str
    card: ModelCard


@dataclass(frozen=True, slots=True)
class Prompts:
    """The operator's part of `PromptOptions`."""

    n_ctx: int
    tools_first: bool
    preamble: Preamble | None
    think_max: str


@dataclass(frozen=True, slots=True)
class Doors:
    """Who may come in. Keys are not told, only whether one is asked for."""

    names: tuple[str, ...] = ()
    any_name: bool = False
    cors: bool = False
    locked: bool = False


@dataclass(frozen=True, slots=True)
class Cache:
    knobs: Knobs
    ram: int
    marks: int
    disk: bool
    replay: ReplayOptions | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """`t` is when it began, monotonic and since the epoch. A `redacted` trace cannot be repeated."""

    trace: int
    version: str
    redacted: bool
    t: tuple[float, float]
    model: Model
    vocabulary: Vocabulary
    prompts: Prompts
    limits: Limits
    max_queue: int
    cache: Cache
    api: ApiLimits
    doors: Doors
    as_sent: tuple[str, ...] = ()

    @property
    def line(self) -> Json:
        words = plain(self)
        return {"at": "head", **words} if isinstance(words, dict) else {}


def vocabulary(tokenizer: Tokenizer) -> Vocabulary:
    """Looks at every token there is."""
    ids = range(tokenizer.n_vocab)
    return Vocabulary(
        tokenizer.n_vocab,
        tokenizer.bos,
        tokenizer.eos,
        dict(tokenizer.controls),
        tuple(filter(tokenizer.is_control, ids)),
        tuple(filter(tokenizer.is_eog, ids)),
        longest_piece(tokenizer),
    )


def doors(access: Access) -> Doors:
    return Doors(tuple(sorted(access.hosts.names)), access.hosts.any_name, access.cors, access.keys.locked)


@dataclass(frozen=True, slots=True)
class Format:
    """What the engine does not know of its model. `tool_format` by name."""

    family: str
    tool_format: str
    template: str
    bos: str
    eos: str


def head(
    engine: Engine,
    services: Services,
    how: Format,
    options: PromptOptions,
    limits: Limits,
    max_queue: int,
    cache: CachePlan,
    *,
    moment: tuple[float, float],
    redacted: bool = False,
) -> Head:
    replay = None if cache.notebook is None else cache.notebook.options
    info = replace(engine.info, path=Path(engine.info.path).name)
    return Head(
        trace=VERSION,
        version=__version__,
        redacted=redacted,
        t=moment,
        model=Model(
            info,
            engine.caps,
            engine.memory(),
            how.family,
            how.tool_format,
            how.template,
            how.bos,
            how.eos,
            services.card,
        ),
        vocabulary=vocabulary(engine.tokenizer),
        prompts=Prompts(options.n_ctx, options.tools_first, options.preamble, options.think_max),
        limits=limits,
        max_queue=max_queue,
        cache=Cache(cache.knobs, cache.ram, cache.marks, cache.store is not None, replay),
        api=services.limits,
        doors=doors(services.access),
        as_sent=tuple(sorted(services.as_sent)),
    )


def read_head(line: Json) -> Head:
    """Raises ValueError that says which field is wrong."""
    try:
        return TypeAdapter(Head).validate_python({key: value for key, value in line.items() if key != "at"})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"head: {place}: {first['msg']}") from None
