"""Does it fit into memory? Asked before anything large is allocated."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ds4.engine.llama.capi import Device
from ds4.engine.llama.sketch import CTX_STEP

_GIB = 1 << 30
_SAFE_SHARE = 0.9
"""Of the context computed to fit: part of the workspace does not shrink with the context."""


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """Bytes; `n_ctx` rows per slot."""

    weights: int
    kv_per_slot: int
    workspace: int
    n_slots: int
    n_ctx: int

    @property
    def kv(self) -> int:
        return self.kv_per_slot * self.n_slots

    @property
    def total(self) -> int:
        return self.weights + self.kv + self.workspace


def fits(need: MemoryNeed, available: int) -> str | None:
    """None, or one sentence with the figures and what to change."""
    if need.total <= available:
        return None
    return (
        f"the model does not fit into memory: weights {_size(need.weights)} "
        f"+ KV cache {need.n_slots} x {_size(need.kv_per_slot)} (--ctx {need.n_ctx}) "
        f"+ workspace {_size(need.workspace)} = {_size(need.total)}, "
        f"available {_size(available)}; {_suggestion(need, available)}"
    )


def _suggestion(need: MemoryNeed, available: int) -> str:
    growing = need.kv + need.workspace
    share = _SAFE_SHARE * (available - need.weights) / growing if growing else 0
    rows = int(need.n_ctx * share) // CTX_STEP * CTX_STEP
    if rows >= CTX_STEP:
        fewer = " or fewer sessions" if need.n_slots > 1 else ""
        return f"about --ctx {rows} would fit; --kv-type q8_0{fewer} also helps"
    return "use a smaller or stronger quantised model"


def _size(count: int) -> str:
    return f"{count / _GIB:.2f} GiB"


def available_bytes(devices: Sequence[Device]) -> int | None:
    """Free host memory plus that of GPUs with memory of their own; None when the host does not say."""
    host = _host_available()
    if host is None:
        return None
    return host + sum(device.free for device in devices if not device.shares_host)


def _host_available() -> int | None:
    known = [size for size in (_meminfo_available(), _cgroup_limit()) if size is not None]
    return min(known) if known else _physical()


def _meminfo_available() -> int | None:
    for line in _lines(Path("/proc/meminfo")):
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    return None


def _cgroup_limit() -> int | None:
    limit = next(iter(_lines(Path("/sys/fs/cgroup/memory.max"))), "max")
    return int(limit) if limit.isdigit() else None


def _physical() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
