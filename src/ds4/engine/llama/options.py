"""What the engine is opened with."""

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ds4.core.errors import OptionError

MAX_SLOTS = 256
"""llama.cpp's own limit of sequences."""

MIN_BATCH = 32
"""Smaller batches would not hold the start-up test."""


class BackendChoice(StrEnum):
    AUTO = "auto"
    METAL = "metal"
    CUDA = "cuda"
    ROCM = "rocm"
    VULKAN = "vulkan"
    CPU = "cpu"


class FlashAttention(StrEnum):
    AUTO = "auto"
    ON = "on"
    OFF = "off"


class KvType(StrEnum):
    F16 = "f16"
    Q8_0 = "q8_0"


@dataclass(frozen=True, slots=True)
class LlamaOptions:
    """`n_ctx` is rows per slot; unless `ctx_given`, it is lowered to the model's trained length.

    `n_batch` is rows per step at most, `n_ubatch` rows per pass through the model. `n_gpu_layers` < 0
    is all. `mlock` keeps the weights in memory, `warm_weights` reads the files once before they are
    loaded. `threads` None leaves one core to the rest of the server, `threads_batch` None takes all.
    `family` and `min_quantum` come from the family table.
    """

    model: Path
    n_ctx: int = 32768
    ctx_given: bool = False
    n_slots: int = 1
    n_batch: int = 512
    n_ubatch: int = 512
    backend: BackendChoice = BackendChoice.AUTO
    n_gpu_layers: int = -1
    flash_attn: FlashAttention = FlashAttention.AUTO
    kv_type: KvType = KvType.F16
    threads: int | None = None
    threads_batch: int | None = None
    mmap: bool = True
    mlock: bool = False
    warm_weights: bool = False
    family: str = ""
    min_quantum: int = 1


def check_options(options: LlamaOptions) -> None:
    """Combinations that a single option's own check cannot see. Raises OptionError."""
    if not 1 <= options.n_slots <= MAX_SLOTS:
        raise OptionError(f"--batched-session {options.n_slots}: 1 to {MAX_SLOTS} sessions are possible")
    if options.n_ctx < 1:
        raise OptionError(f"--ctx {options.n_ctx}: at least 1 row is needed")
    if options.kv_type is KvType.Q8_0 and options.flash_attn is FlashAttention.OFF:
        raise OptionError("--kv-type q8_0 needs flash attention, but --flash-attn is off")


def batch_rows(options: LlamaOptions) -> int:
    """Rows per step: as asked, but enough for one decode row of each slot."""
    return max(options.n_batch, options.n_slots, MIN_BATCH)


def default_threads() -> tuple[int, int]:
    """(decode, prefill). Decode leaves a core to the rest of the server: with all cores taken, llama.cpp's
    spinning threads lose most of their speed as soon as one of them is disturbed."""
    cores = _usable_cores()
    return max(1, cores - 1), cores


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
