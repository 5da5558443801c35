"""Token counts and stop reasons as Anthropic words them.

Rules of this file:
- input + cache read + cache creation = the prompt, always. Clients see from that sum how full the context is.
- `input_tokens` is never 0: some clients take a 0 for "nothing new" and keep an earlier value.
- What was computed counts as written to the cache where the caller marks what to cache, all but the last
  token, which is computed anew each time; else as plain input.
"""

from dataclasses import dataclass

from ds4.core.events import Finish, FinishReason

_REASONS = {
    FinishReason.STOP: "end_turn",
    FinishReason.LENGTH: "max_tokens",
    FinishReason.TOOL_CALLS: "tool_use",
    # Cut as well: clients ask again for the rest, and meet the server that is back by then.
    FinishReason.SHUTDOWN: "max_tokens",
}


@dataclass(frozen=True, slots=True)
class Split:
    """A prompt's tokens. `of` is the only way to make one from counts."""

    fresh: int
    read: int = 0
    created: int = 0

    @classmethod
    def of(cls, prompt: int, read: int, *, caching: bool) -> "Split":
        computed = prompt - read
        created = max(0, computed - 1) if caching else 0
        return cls(computed - created, read, created)

    def fields(self, completion: int = 0, reasoning: int = 0) -> dict[str, object]:
        """What every usage object holds."""
        return {
            "input_tokens": self.fresh,
            "cache_creation_input_tokens": self.created,
            "cache_read_input_tokens": self.read,
            "output_tokens": completion,
            "output_tokens_details": {"thinking_tokens": reasoning},
            "server_tool_use": None,
        }

    def whole(self, completion: int = 0, reasoning: int = 0) -> dict[str, object]:
        """With what only a message's own usage holds besides."""
        creation = {"ephemeral_5m_input_tokens": self.created, "ephemeral_1h_input_tokens": 0}
        more = {"cache_creation": creation, "service_tier": "standard", "inference_geo": None}
        return self.fields(completion, reasoning) | more


def final_split(finish: Finish, *, caching: bool) -> Split:
    return Split.of(finish.usage.prompt, finish.usage.cached, caching=caching)


def ending(finish: Finish | None) -> dict[str, object]:
    """Why the answer ended; None while it has not."""
    reason = None
    if finish is not None:
        reason = "stop_sequence" if finish.sequence is not None else _REASONS[finish.reason]
    sequence = None if finish is None else finish.sequence
    return {"stop_reason": reason, "stop_sequence": sequence, "stop_details": None, "container": None}
