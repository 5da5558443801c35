"""How the server is: alive, ready, busy."""

from starlette.requests import Request
from starlette.responses import Response

from ds4.api.access import namespace_of
from ds4.api.reply import json_reply
from ds4.api.services import Services
from ds4.core.status import Readiness, SlotStatus


async def health(services: Services, request: Request) -> Response:  # noqa: ARG001
    """Liveness: the event loop answers, whatever the engine does."""
    status = services.backend.status()
    return json_reply(
        {
            "status": "ok",
            "readiness": status.readiness,
            "model": services.card.id,
            "version": services.version,
            "uptime_seconds": round(services.clock.now() - services.started, 3),
            "n_ctx": status.n_ctx,
            "slots": len(status.slots),
            "slots_busy": sum(slot.phase is not None for slot in status.slots),
            "queued": status.queued,
        }
    )


async def ready(services: Services, request: Request) -> Response:  # noqa: ARG001
    status = services.backend.status()
    if status.readiness is Readiness.READY:
        return json_reply({"status": status.readiness})
    reason = status.detail or f"the server is {status.readiness}"
    return json_reply({"status": status.readiness, "reason": reason}, 503, {"retry-after": "5"})


async def slots(services: Services, request: Request) -> Response:
    """With API keys, of other callers' slots only whether they are busy."""
    status = services.backend.status()
    keys, caller = services.access.keys, namespace_of(request.scope)
    rows = [
        _own(slot) if not keys.locked or slot.namespace == caller else _foreign(slot) for slot in status.slots
    ]
    return json_reply({"n_ctx": status.n_ctx, "queued": status.queued, "slots": rows})


def _own(slot: SlotStatus) -> dict[str, object]:
    return {
        "id": slot.slot,
        "state": slot.state,
        "phase": slot.phase,
        "rows": slot.rows,
        "prompt_tokens": slot.prompt,
        "prefilled_tokens": slot.prefilled,
        "generated_tokens": slot.generated,
    }


def _foreign(slot: SlotStatus) -> dict[str, object]:
    return {"id": slot.slot, "state": "idle" if slot.phase is None else "busy"}
