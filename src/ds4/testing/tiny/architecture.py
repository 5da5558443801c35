"""What one tiny model is, as data: a family's control tokens and an architecture's hyperparameters."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Family:
    """What a model family adds to the byte-level vocabulary.

    `controls` become CONTROL entries, `user_defined` USER_DEFINED ones: a tokenizer finds the latter
    in any text, also where it is told to leave special tokens alone. `ends` are the spellings that
    end a turn, by metadata key. `template` names a file of `templates/`. `splitter` is the loader's
    name of the rule that cuts text into words before merging.
    """

    splitter: str
    template: str
    controls: tuple[str, ...]
    user_defined: tuple[str, ...]
    ends: Mapping[str, str]
    bos: str | None = None


class FromVocabulary(Enum):
    """A hyperparameter that is only known once the vocabulary is made."""

    SIZE = "size"
    EOS = "eos"


class Width(Enum):
    """Element types of arrays, in the file format's names."""

    UINT32 = "UINT32"
    INT32 = "INT32"
    UINT64 = "UINT64"


@dataclass(frozen=True, slots=True)
class Array:
    width: Width
    items: tuple[int, ...]

    @classmethod
    def u32(cls, *items: int) -> "Array":
        return cls(Width.UINT32, items)

    @classmethod
    def i32(cls, *items: int) -> "Array":
        return cls(Width.INT32, items)

    @classmethod
    def u64(cls, *items: int) -> "Array":
        return cls(Width.UINT64, items)


Value = bool | int | float | Array | FromVocabulary
"""Plain ints are written as UINT32, floats as FLOAT32."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor as the loader wants it. `ne` is its shape, fastest dimension first."""

    name: str
    ne: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Architecture:
    """`keys` are hyperparameters without the architecture's prefix.

    `probe` is the tensor the loader looks for in the file, before it lists any, to learn whether the
    file carries a multi-token-prediction block. `unlisted` are tensors it reads and does not list.
    `hash_layers` counts the first layers that route experts by token id.
    """

    name: str
    family: Family
    keys: Mapping[str, Value]
    probe: str | None = None
    unlisted: tuple[Tensor, ...] = ()
    hash_layers: int = 0

    def count(self, key: str) -> int:
        """The integer hyperparameter `key`. Raises TypeError for any other kind."""
        value = self.keys[key]
        if not isinstance(value, int):
            raise TypeError(f"{self.name}.{key} is not an integer")
        return value
