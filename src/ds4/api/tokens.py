"""Text to token ids and back."""

from pydantic import ConfigDict
from starlette.requests import Request
from starlette.responses import Response

from ds4.api.body import JsonObject, parsed
from ds4.api.openai.completions import token_ids
from ds4.api.race import while_connected
from ds4.api.reply import json_reply
from ds4.api.services import Services
from ds4.api.validate import Body, validated
from ds4.core.errors import BadRequest
from ds4.core.ports import Tokenizer


class TokenizeBody(Body):
    """`parse_special` makes control tokens of control spellings; `add_special` puts BOS first."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["content"]}, {"required": ["prompt"]}]}
    )

    content: str | None = None
    prompt: str | None = None
    add_special: bool = False
    parse_special: bool = True
    with_pieces: bool = False


async def tokenize(services: Services, request: Request) -> Response:
    body = await parsed(request, services, _tokenize_body)
    encoding = services.run(lambda: _encode(services.tokenizer, body))
    tokens = await while_connected(request.receive, encoding)
    if body.with_pieces:
        return json_reply({"tokens": [_with_piece(services.tokenizer, token) for token in tokens]})
    return json_reply({"tokens": tokens})


async def detokenize(services: Services, request: Request) -> Response:
    tokenizer = services.tokenizer
    tokens = await parsed(request, services, lambda raw: _tokens(raw, tokenizer.n_vocab))
    joining = services.run(lambda: b"".join(map(tokenizer.piece, tokens)))
    data = await while_connected(request.receive, joining)
    return json_reply({"content": data.decode(errors="replace")})


def _tokenize_body(raw: JsonObject) -> TokenizeBody:
    body = validated(TokenizeBody, raw)
    if body.content is None and body.prompt is None:
        raise BadRequest("missing content", param="content")
    return body


def _tokens(raw: JsonObject, n_vocab: int) -> tuple[int, ...]:
    if raw.get("tokens") is None:
        raise BadRequest("missing tokens", param="tokens")
    return token_ids(raw["tokens"], n_vocab, "tokens")


def _encode(tokenizer: Tokenizer, body: TokenizeBody) -> list[int]:
    text = body.content if body.content is not None else body.prompt or ""
    tokens = tokenizer.encode_raw(text) if body.parse_special else tokenizer.encode_plain(text)
    return [tokenizer.bos, *tokens] if body.add_special and tokenizer.bos is not None else tokens


def _with_piece(tokenizer: Tokenizer, token: int) -> dict[str, object]:
    """A piece that is no text of its own (a part of a character) is given as its bytes."""
    data = tokenizer.piece(token)
    try:
        return {"id": token, "piece": data.decode()}
    except UnicodeDecodeError:
        return {"id": token, "piece": list(data)}
