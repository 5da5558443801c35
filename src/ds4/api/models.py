"""The model list: one document that both OpenAI's and Anthropic's clients can read."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from ds4.api.reply import json_reply
from ds4.api.services import ModelCard, Services
from ds4.core.errors import NotFound

CREATED = 1767225600
"""A fixed date, so that the list is the same in every run."""
PARAMETERS = (
    *("tools", "tool_choice", "max_tokens", "temperature", "top_p", "top_k", "min_p"),
    *("presence_penalty", "frequency_penalty", "repetition_penalty", "logit_bias"),
    *("ignore_eos", "stop", "seed", "stream", "reasoning_effort"),
    *("n", "logprobs", "top_logprobs"),
)


async def list_models(services: Services, request: Request) -> Response:  # noqa: ARG001
    card = services.card
    data = [_model(card, name) for name in card.names]
    edges = {"has_more": False, "first_id": card.names[0], "last_id": card.names[-1]}
    return json_reply({"object": "list", "data": data, **edges})


async def get_model(services: Services, request: Request) -> Response:
    name = request.path_params["name"]
    if name not in services.card.names:
        raise NotFound(f"model {name!r} does not exist", param="model", code="model_not_found")
    return json_reply(_model(services.card, name))


def _model(card: ModelCard, name: str) -> dict[str, object]:
    output = min(card.max_tokens, card.n_ctx)
    return {
        "id": name,
        "object": "model",
        "type": "model",
        "created": CREATED,
        "created_at": datetime.fromtimestamp(CREATED, UTC).isoformat().replace("+00:00", "Z"),
        "owned_by": "ds4.c",
        "name": card.name,
        "display_name": card.name,
        "context_length": card.n_ctx,
        "max_model_len": card.n_ctx,
        "max_input_tokens": card.n_ctx,
        "max_tokens": output,
        "top_provider": {
            "context_length": card.n_ctx,
            "max_completion_tokens": output,
            "is_moderated": False,
        },
        "supported_parameters": PARAMETERS,
    }
