"""What a model format is, as data."""

from dataclasses import dataclass

from ds4.formats.markup import Reasoning, ToolFormat
from ds4.formats.reasoning import THINK_LINES
from ds4.formats.thinking import NAMED, Efforts
from ds4.formats.tools.hermes_json import HERMES_JSON


@dataclass(frozen=True, slots=True)
class Alias:
    """A model id that clients ask for. `thinking` is what it says about reasoning, if anything."""

    name: str
    thinking: bool | None = None


@dataclass(frozen=True, slots=True)
class Family:
    """One model format.

    `archs` are the GGUF architectures it is the default for. `marker` is a spelling that the
    vocabulary must hold too: it tells a format from an older one of the same architecture.
    `control` are the spellings of CONTROL entries, `bos`, `eos` and `ends` among them; `markup`
    those of USER_DEFINED entries. `ends` end an answer as `eos` does.
    `template` names the built-in layout for a GGUF that brings no template (`prompt/layouts/`).
    `efforts` says what the model is told about reasoning effort.
    `min_quantum` is the smallest number of prefill rows worth mixing into a decode step.
    `aliases` are further model ids that clients of this family ask for.
    `reasoning` and `tool_format` say how the model sets off reasoning and writes tool calls; a
    model file's own template may show another format (`formats.tools.registry.written_by`).
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
    aliases: tuple[Alias, ...] = ()
    efforts: Efforts = NAMED
    reasoning: Reasoning = THINK_LINES
    tool_format: ToolFormat = HERMES_JSON

    @property
    def spellings(self) -> tuple[str, ...]:
        """All special spellings, control first."""
        return self.control + self.markup
