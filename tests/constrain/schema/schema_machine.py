"""Cleaned schemas at work on a vocabulary of single bytes, and JSON schema's own verdict on the outcome."""

import itertools
import json
import random
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, localcontext
from functools import cache
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import numpy as np
from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper

from ds4.constrain.schema import Cleaned, cleaned
from ds4.constrain.schema.document import Schema
from ds4.constrain.schema.formats import FORMATS
from ds4.core.errors import BadRequest

END = 256
OPTIONS = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
MAX_SPELLINGS = 200
_CLOSING = frozenset(b'"]}')
_STRUCTURE = frozenset(b'",:[]{} 0123456789abtfn\\')


class _Bytes:
    eos_token_id = END
    bos_token_id = None
    tokens = (*(bytes([byte]) for byte in range(256)), b"<end>")
    special_token_ids = (END,)

    def __call__(self, text: bytes | str) -> list[int]:
        return list(text.encode() if isinstance(text, str) else text)


@cache
def _tokenizer() -> LLTokenizer:
    return LLTokenizer(TokenizerWrapper(_Bytes()), n_vocab=END + 1, eos_token=END, slices=[])


def attempt(schema: object, *, strict: bool) -> Cleaned | BadRequest:
    """Under the path "s"."""
    return _attempt(json.dumps(schema), strict=strict)


@cache
def _attempt(text: str, *, strict: bool) -> Cleaned | BadRequest:
    try:
        return cleaned(text, "s", strict=strict)
    except BadRequest as error:
        return error


class Machine:
    """Fails with the library's words if it does not take the schema."""

    def __init__(self, schema: Schema) -> None:
        # `false` is the one schema that the library does not take.
        self._matcher: LLMatcher | None = None
        if schema is False:
            return
        rooted: Mapping[str, object] = {"allOf": [schema]} if isinstance(schema, bool) else schema
        grammar = {"grammars": [{"json_schema": {**rooted, "x-guidance": OPTIONS}}]}
        matcher = self._matcher = LLMatcher(_tokenizer(), json.dumps(grammar))
        if matcher.is_error():
            raise AssertionError(matcher.get_error())

    def takes_text(self, text: str) -> bool:
        if self._matcher is None:
            return False
        matcher, data = self._matcher.deep_copy(), list(text.encode())
        return matcher.try_consume_tokens(data) == len(data) and matcher.is_accepting()

    def takes(self, value: object) -> bool:
        """In any order of properties."""
        return any(map(self.takes_text, itertools.islice(spellings(value), MAX_SPELLINGS)))

    def sampled(self, seed: int, length: int = 60) -> str | None:
        """Random bytes of those allowed, in favour of what ends the answer soon; None if it did not end."""
        if self._matcher is None:
            return None
        chance, matcher = random.Random(seed), self._matcher.deep_copy()
        written = bytearray()
        while not matcher.is_stopped() and len(written) < 3 * length:
            mask = np.frombuffer(matcher.compute_bitmask(), np.uint8)
            allowed = np.flatnonzero(np.unpackbits(mask, bitorder="little")[: END + 1]).tolist()
            token = _choice(chance, allowed, hurried=len(written) > length)
            if token == END:
                break
            assert matcher.consume_token(token)
            written.append(token)
        text = written.decode() if matcher.is_accepting() else None
        # Numbers that no reader has room for.
        return None if text is None or re.search(r"[eE][+-]?[0-9]{4}", text) else text


def _choice(chance: random.Random, allowed: list[int], *, hurried: bool) -> int:
    if END in allowed and (hurried or chance.random() < 0.3):
        return END
    closing = [token for token in allowed if token in _CLOSING]
    if hurried and closing:
        return chance.choice(closing)
    structure = [token for token in allowed if token in _STRUCTURE]
    plain = [token for token in allowed if 32 <= token < 127]
    return chance.choice(chance.choice([allowed, plain or allowed, structure or allowed]))


def spellings(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for order in itertools.permutations(value.items()):
            members = [
                [f"{json.dumps(name, ensure_ascii=False)}: {one}" for one in spellings(inner)]
                for name, inner in order
            ]
            yield from ("{" + ", ".join(chosen) + "}" for chosen in itertools.product(*members))
    elif isinstance(value, list):
        items = itertools.product(*(list(spellings(inner)) for inner in value))
        yield from ("[" + ", ".join(chosen) + "]" for chosen in items)
    else:
        yield json.dumps(value, ensure_ascii=False)


def _pattern(_: Any, pattern: str, value: object, __: object) -> Iterator[jsonschema.ValidationError]:
    """As ECMA-262 has it: `\\w` is ASCII, and `$` is the end."""
    if isinstance(value, str) and not re.search(re.sub(r"(?<!\\)\$", r"\\Z", pattern), value, re.ASCII):
        yield jsonschema.ValidationError("pattern")


# Its "time" is that of draft 3, which has no time zone.
_CHECKER = jsonschema.FormatChecker(sorted(FORMATS & jsonschema.FormatChecker.checkers.keys() - {"time"}))
_DRAFTS = {
    "draft2020-12": jsonschema.validators.extend(jsonschema.Draft202012Validator, {"pattern": _pattern}),
    "draft7": jsonschema.validators.extend(jsonschema.Draft7Validator, {"pattern": _pattern}),
}


class Verdict:
    """JSON schema's. Numbers are decimals, as in JSON."""

    def __init__(self, schema: object, draft: str = "draft2020-12") -> None:
        exact = json.loads(json.dumps(schema), parse_float=Decimal)
        self._validator = _DRAFTS[draft](exact, format_checker=_CHECKER)

    def on_text(self, text: str) -> bool:
        with localcontext(prec=1000):
            return bool(self._validator.is_valid(json.loads(text, parse_float=Decimal)))

    def on(self, value: object) -> bool:
        return self.on_text(json.dumps(value))
