"""What a model format is, as data."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """One model format.

    `archs` are the GGUF architectures it is the default for. `marker` is a spelling that the
    vocabulary must hold too: it tells a format from an older one of the same architecture.
    `control` are the spellings of CONTROL entries, `bos`, `eos` and `ends` among them; `markup`
    those of USER_DEFINED entries. `ends` end an answer as `eos` does.
    `template` is the chat template for a GGUF that brings none. It gets `messages`,
    `add_generation_prompt` and the thinking variables (`thinking` for DeepSeek, `enable_thinking`
    for the others; absent or none is on), and writes every control spelling itself, the first
    one too. It renders plain chats: no tools yet.
    `min_quantum` is the smallest number of prefill rows worth mixing into a decode step.
    `aliases` are further model ids that clients of this family ask for.
    """

    name: str
    archs: tuple[str, ...]
    bos: str | None
    eos: str | None
    control: tuple[str, ...]
    markup: tuple[str, ...]
    template: str
    marker: str | None = None
    ends: tuple[str, ...] = ()
    min_quantum: int = 1
    aliases: tuple[str, ...] = ()

    @property
    def spellings(self) -> tuple[str, ...]:
        """All special spellings, control first."""
        return self.control + self.markup
