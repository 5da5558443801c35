"""Token counts and finish reasons as OpenAI words them."""

import orjson

from ds4.core.events import FinishReason
from ds4.core.usage import Usage

FINISH = {
    FinishReason.STOP: "stop",
    FinishReason.LENGTH: "length",
    FinishReason.TOOL_CALLS: "tool_calls",
    FinishReason.SHUTDOWN: "error",
}


def usage_json(usage: Usage) -> bytes:
    """`cache_write_tokens` are the prompt tokens that were computed and are in the cache now."""
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
