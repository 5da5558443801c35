"""POST /v1/completions: the request."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator

from ds4.api.body import JsonObject
from ds4.api.early import refuse_many
from ds4.api.openai.forms import FormBody, form_of
from ds4.api.openai.generation import MAX_CHOICES, Generation, LogprobCount, Wanted, wanted
from ds4.api.openai.refused import COMPLETIONS, refuse
from ds4.api.services import ModelCard
from ds4.api.validate import Integer, validated
from ds4.core.constraint import Form
from ds4.core.errors import BadRequest, Unsupported

Prompt = str | tuple[int, ...]


def _asked_number(value: object) -> object:
    """Chat's `false` means the same here: none."""
    return None if value is False else value


class CompletionGeneration(Generation, FormBody):
    logprobs: Annotated[LogprobCount | None, BeforeValidator(_asked_number)] = None
    echo: bool = False
    best_of: Integer | None = None


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    prompts: tuple[Prompt, ...]
    wanted: Wanted
    echo: bool = False
    form: Form | None = None


def completion_request(raw: JsonObject, card: ModelCard, n_vocab: int) -> CompletionRequest:
    """Raises BadRequest."""
    refuse(raw, COMPLETIONS)
    prompts = prompts_of(raw.get("prompt"), n_vocab)
    for prompt in prompts:
        refuse_many(prompt, card.n_ctx)
    body = validated(CompletionGeneration, raw)
    if body.best_of not in (None, body.n):
        raise Unsupported("best_of", "other than n is not supported by this server")
    if body.echo and body.logprobs is not None:
        raise Unsupported("echo", "with logprobs is not supported by this server")
    want = wanted(body, card, n_vocab, body.logprobs)
    if len(prompts) * want.n > MAX_CHOICES:
        problem = f"prompt: {len(prompts)} prompts of n = {want.n} are more than {MAX_CHOICES} choices"
        raise BadRequest(problem, param="prompt")
    return CompletionRequest(prompts, want, body.echo, form_of(body))


def prompts_of(value: object, n_vocab: int) -> tuple[Prompt, ...]:
    """A string, token ids, or a list of these; at least one. Raises BadRequest."""
    if value is None:
        raise BadRequest("missing prompt", param="prompt")
    if isinstance(value, list) and value and isinstance(value[0], str | list):
        return tuple(_prompt(item, n_vocab, f"prompt.{number}") for number, item in enumerate(value))
    return (_prompt(value, n_vocab, "prompt"),)


def _prompt(value: object, n_vocab: int, path: str) -> Prompt:
    return value if isinstance(value, str) else token_ids(value, n_vocab, path)


def token_ids(value: object, n_vocab: int, path: str) -> tuple[int, ...]:
    """Raises BadRequest unless `value` is an array of ids of this vocabulary."""
    if not isinstance(value, list):
        raise BadRequest(f"{path} must be a string or an array of token ids", param=path)
    for number, token in enumerate(value):
        # bool is an int to Python, not to JSON.
        if type(token) is not int or not 0 <= token < n_vocab:
            where = f"{path}.{number}"
            raise BadRequest(f"{where} must be a token id from 0 to {n_vocab - 1}", param=where)
    return tuple(value)
