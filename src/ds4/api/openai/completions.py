"""POST /v1/completions: the request."""

from dataclasses import dataclass

from ds4.api.body import JsonObject
from ds4.api.openai.generation import Generation, Wanted, wanted
from ds4.api.openai.refused import COMPLETIONS, refuse
from ds4.api.services import ModelCard
from ds4.api.validate import validated
from ds4.core.errors import BadRequest, Unsupported

Prompt = str | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    prompt: Prompt
    wanted: Wanted


def completion_request(raw: JsonObject, card: ModelCard, n_vocab: int) -> CompletionRequest:
    """Raises BadRequest."""
    refuse(raw, COMPLETIONS)
    prompt = prompt_of(raw.get("prompt"), n_vocab)
    return CompletionRequest(prompt, wanted(validated(Generation, raw), card, n_vocab))


def prompt_of(value: object, n_vocab: int) -> Prompt:
    """A string, token ids, or a list of just one of them. Raises BadRequest."""
    if value is None:
        raise BadRequest("missing prompt", param="prompt")
    if isinstance(value, list) and value and isinstance(value[0], str | list):
        if len(value) > 1:
            raise Unsupported("prompt", "with more than one prompt is not supported by this server")
        value = value[0]
    if isinstance(value, str):
        return value
    return token_ids(value, n_vocab, "prompt")


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
