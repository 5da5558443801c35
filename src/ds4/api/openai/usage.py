"""Token counts and finish reasons as OpenAI words them."""

from collections.abc import Sequence

import orjson

from ds4.api.openai.choices import Shape
from ds4.api.sse import DONE, frame
from ds4.core.events import Finish, FinishReason
from ds4.core.usage import Usage

FINISH = {
    FinishReason.STOP: "stop",
    FinishReason.LENGTH: "length",
    FinishReason.TOOL_CALLS: "tool_calls",
    FinishReason.SHUTDOWN: "error",
}


def usage_json(finishes: Sequence[Finish], shape: Shape) -> bytes:
    """Of all choices together. `cache_write_tokens` are the prompt tokens that were computed and are in
    the cache now."""
    usage = _sum([finish.usage for finish in finishes], shape.n)
    return orjson.dumps(
        {
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.completion,
            "total_tokens": usage.total,
            "prompt_tokens_details": {
                "cached_tokens": usage.cached,
                "cache_write_tokens": usage.prompt - usage.cached,
            },
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
        }
    )


def stream_end(opening: bytes, finishes: Sequence[Finish], shape: Shape) -> bytes:
    """The usage, when it is wanted, in a chunk that begins with `opening`; then the end mark."""
    if not shape.include_usage:
        return DONE
    return frame(opening + b'"choices":[],"usage":' + usage_json(finishes, shape) + b"}") + DONE


def _sum(usages: Sequence[Usage], n: int) -> Usage:
    """A prompt counts once, and as cached is what its first choice found cached."""
    firsts = usages[::n]
    return Usage(
        prompt=sum(usage.prompt for usage in firsts),
        cached=sum(usage.cached for usage in firsts),
        completion=sum(usage.completion for usage in usages),
        reasoning=sum(usage.reasoning for usage in usages),
    )
