"""Lines of a trace as typed values; what replaying needs of them, no more. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ds4.core import errors
from ds4.core.errors import Ds4Error, EngineError
from ds4.core.sampling import Sampled
from ds4.core.step import Outcome, StepResult
from ds4.observe.trace.values import Json
from ds4.rerun.moment import Moment


def moment(line: Mapping[str, Any]) -> Moment:
    now, wall = line["t"]
    return Moment(float(now), float(wall))


def error_of(words: Sequence[str]) -> Ds4Error:
    """Of the same kind where it can be made of its message alone."""
    name, message = words
    kind = getattr(errors, name, EngineError)
    try:
        made = kind(message)
    except TypeError:
        return EngineError(message)
    return made if isinstance(made, Ds4Error) else EngineError(message)


@dataclass(frozen=True, slots=True)
class Op:
    """One call of the engine: what it was asked, what it gave or failed with, when it was over."""

    name: str
    asked: list[Any]
    gave: Any
    error: Ds4Error | None
    moment: Moment

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> "Op":
        error = error_of(line["error"]) if "error" in line else None
        return cls(line["op"], line["asked"], line.get("gave"), error, moment(line))


@dataclass(frozen=True, slots=True)
class TurnLine:
    """One turn of the scheduler. `prefill` is empty where the rate has not changed; `alike` and `fed` are
    what was made of texts, `guide` what guides said."""

    number: int
    moment: Moment
    commands: list[list[Any]]
    ops: list[Op]
    store: list[list[Any]]
    prices: list[list[float]]
    prefill: list[float | None]
    alike: list[list[Any] | None]
    fed: list[Any]
    guide: list[Any]

    @classmethod
    def of(cls, line: Json) -> "TurnLine":
        found: dict[str, Any] = dict(line)
        return cls(
            int(found["turn"]),
            moment(found),
            found.get("commands", []),
            [Op.of(op) for op in found.get("ops", [])],
            found.get("store", []),
            found.get("prices", []),
            found.get("prefill", []),
            found.get("alike", []),
            found.get("fed", []),
            found.get("guide", []),
        )


def result(gave: Mapping[str, Any]) -> StepResult:
    return StepResult(tuple(map(_outcome, gave["outcomes"])), float(gave["seconds"]))


def _outcome(words: Mapping[str, Any]) -> Outcome:
    error = error_of(words["error"]) if "error" in words else None
    known = error if isinstance(error, EngineError) or error is None else EngineError(error.message)
    return Outcome(tuple(map(_sampled, words["tokens"])), int(words["kept"]), known)


def _sampled(words: Any) -> Sampled:
    if isinstance(words, int):
        return Sampled(words)
    token, logprob, top = words
    return Sampled(int(token), logprob, tuple((int(other), float(how)) for other, how in top))
