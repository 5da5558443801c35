"""How the next token is chosen. Defaults are ds4's (temperature 1, top_p 1, min_p 0.05, top_k off)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sampling:
    """`temperature` <= 0 is argmax. `top_k` 0 is off. `seed` None draws one.

    `repeat_penalty` 1, `presence_penalty` 0 and `frequency_penalty` 0 are off.
    `logprobs` None reports none; k reports the sampled token's logprob and the k best.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    min_p: float = 0.05
    top_k: int = 0
    seed: int | None = None
    repeat_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: tuple[tuple[int, float], ...] = ()
    ignore_eos: bool = False
    logprobs: int | None = None


@dataclass(frozen=True, slots=True)
class Sampled:
    """One sampled token. `top` lists (id, logprob), best first, from the unfiltered logits."""

    id: int
    logprob: float | None = None
    top: tuple[tuple[int, float], ...] = ()
