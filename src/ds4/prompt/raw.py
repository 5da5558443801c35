"""Prompts that skip the template: the caller owns every character."""

from itertools import groupby

from ds4.core.errors import BadRequest
from ds4.core.plan import Boundary, BoundaryKind, Origin, PromptPlan, Tokens
from ds4.core.ports import Tokenizer


def raw_plan(tokenizer: Tokenizer, prompt: str | tuple[int, ...], namespace: str) -> PromptPlan:
    """Raises BadRequest on ids outside the vocabulary, and on an empty prompt without a BOS."""
    if isinstance(prompt, str):
        ids, text = tokenizer.encode_raw(prompt), prompt
    else:
        ids = _checked(prompt, tokenizer.n_vocab)
        text = b"".join(map(tokenizer.piece, ids)).decode(errors="replace")
    if tokenizer.bos is not None and ids[:1] != [tokenizer.bos]:
        ids = [tokenizer.bos, *ids]
    if not ids:
        raise BadRequest("prompt must not be empty", param="prompt")
    special = frozenset(tokenizer.controls.values())
    items = [
        Tokens(tuple(run), Origin.CONTROL if control else Origin.PLAIN)
        for control, run in groupby(ids, special.__contains__)
    ]
    end = Boundary(len(ids), BoundaryKind.PROMPT_END)
    return PromptPlan.of(items, text=text, boundaries=[end], namespace=namespace)


def _checked(ids: tuple[int, ...], n_vocab: int) -> list[int]:
    for token in ids:
        if not 0 <= token < n_vocab:
            raise BadRequest(f"prompt has the token id {token}; ids are 0 to {n_vocab - 1}", param="prompt")
    return list(ids)
