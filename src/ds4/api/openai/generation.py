"""The fields chat and completions share: sampling, limits, stop strings, streaming."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from ds4.api.services import ModelCard
from ds4.api.validate import Body, Integer
from ds4.core.errors import BadRequest
from ds4.core.sampling import Sampling

MAX_INT = 2**31 - 1
MAX_SEED = 2**63 - 1
MAX_TOP_K = 1024
MAX_STOPS = 128
MAX_STOP_CHARS = 16 * 1024
MAX_BIAS = 100.0
MAX_PENALTY = 2.0
MAX_CHOICES = 32
"""Choices of one request, over all its prompts: half of what may wait by default."""
MAX_LOGPROBS = 20

Number = Annotated[float, Field(allow_inf_nan=False)]
Penalty = Annotated[float, Field(ge=-MAX_PENALTY, le=MAX_PENALTY, allow_inf_nan=False)]
# Further out a penalty makes infinities of logits.
Factor = Annotated[float, Field(ge=0.01, le=100, allow_inf_nan=False)]
LogprobCount = Annotated[Integer, Field(ge=0, le=MAX_LOGPROBS)]


class StreamOptions(Body):
    include_usage: bool = False


class Generation(Body):
    # The name comes back in every chunk: its length is the client's only way to blow up a stream.
    model: Annotated[str, Field(max_length=256)] = ""
    stream: bool = False
    stream_options: StreamOptions = StreamOptions()
    n: Annotated[Integer, Field(ge=1, le=MAX_CHOICES)] = 1
    max_tokens: Integer | None = None
    max_completion_tokens: Integer | None = None
    temperature: Number | None = None
    top_p: Number = 1.0
    min_p: Number = 0.05
    top_k: Integer = 0
    seed: Integer = 0
    presence_penalty: Penalty = 0.0
    frequency_penalty: Penalty = 0.0
    repeat_penalty: Factor = 1.0
    repetition_penalty: Factor = 1.0
    ignore_eos: bool = False
    logit_bias: dict[str, Number] = Field(default_factory=dict)
    stop: Any = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the caller wants of the answer, whatever the prompt."""

    model: str
    stream: bool
    include_usage: bool
    n: int
    max_tokens: int
    sampling: Sampling
    stops: tuple[str, ...]

    @property
    def logprobs(self) -> bool:
        return self.sampling.logprobs is not None


def wanted(body: Generation, card: ModelCard, n_vocab: int, logprobs: int | None) -> Wanted:
    """`logprobs` counts the best tokens to report, None for no logprobs. Raises BadRequest."""
    return Wanted(
        model=body.model or card.id,
        stream=body.stream,
        include_usage=body.stream_options.include_usage,
        n=body.n,
        max_tokens=_max_tokens(body, card.max_tokens),
        sampling=_sampling(body, n_vocab, logprobs),
        stops=_stops(body.stop),
    )


def _max_tokens(body: Generation, default: int) -> int:
    asked = body.max_tokens if body.max_completion_tokens is None else body.max_completion_tokens
    return default if asked is None else max(0, min(asked, MAX_INT))


def _sampling(body: Generation, n_vocab: int, logprobs: int | None) -> Sampling:
    temperature = 1.0 if body.temperature is None else body.temperature
    if body.ignore_eos and (body.temperature is None or temperature > 0):
        raise BadRequest("ignore_eos requires an explicit temperature of 0", param="ignore_eos")
    return Sampling(
        temperature=temperature,
        top_p=body.top_p if 0 < body.top_p <= 1 else 1.0,
        min_p=max(0.0, min(body.min_p, 1.0)),
        top_k=max(0, min(body.top_k, MAX_TOP_K)),
        seed=body.seed & MAX_SEED if body.seed > 0 else None,
        # Two spellings of one knob.
        repeat_penalty=body.repeat_penalty if body.repeat_penalty != 1.0 else body.repetition_penalty,
        presence_penalty=body.presence_penalty,
        frequency_penalty=body.frequency_penalty,
        logit_bias=tuple(_bias(key, value, n_vocab) for key, value in body.logit_bias.items()),
        ignore_eos=body.ignore_eos,
        logprobs=logprobs,
    )


def _bias(key: str, value: float, n_vocab: int) -> tuple[int, float]:
    # isdecimal is true for digits of every script, and int() takes any length of them: look at both.
    if not (key.isascii() and key.isdecimal() and len(key) < 10 and int(key) < n_vocab):
        problem = f"logit_bias: {key[:32]!r} is not a token id from 0 to {n_vocab - 1}"
        raise BadRequest(problem, param="logit_bias")
    if not -MAX_BIAS <= value <= MAX_BIAS:
        raise BadRequest(f"logit_bias.{key} must be from -100 to 100", param=f"logit_bias.{key}")
    return int(key), value


def _stops(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    stops: list[str] = []
    for number, item in enumerate(items):
        if item is not None and not isinstance(item, str):
            path = f"stop.{number}" if isinstance(value, list) else "stop"
            raise BadRequest(f"{path} must be a string", param=path)
        if item:
            stops.append(item)
    if len(stops) > MAX_STOPS or sum(map(len, stops)) > MAX_STOP_CHARS:
        limit = f"{MAX_STOPS} strings and {MAX_STOP_CHARS} characters"
        raise BadRequest(f"stop may hold at most {limit}", param="stop")
    return tuple(stops)
