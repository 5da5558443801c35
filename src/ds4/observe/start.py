"""The lines a server begins with: what was loaded, what it costs, how it batches. Pure."""

from ds4.core.step import Caps, MemoryUse, ModelInfo

MIB = 1 << 20


def start_lines(
    info: ModelInfo, caps: Caps, memory: MemoryUse, *, asked_ctx: int, quantum: int, chunk: int
) -> tuple[str, ...]:
    kv = memory.kv_per_slot
    total = kv * info.n_slots + memory.workspace
    return (
        f"loaded {info.name} (arch={info.arch}, family={info.family}, memory={caps.memory_class}, "
        f"weights={_mib(memory.model)}, trained_ctx={info.n_ctx_train})",
        f"context buffers {_mib(total)} (ctx={_ctx(info, asked_ctx)}, slots={info.n_slots}, "
        f"kv_per_slot={_mib(kv)}, shared_workspace={_mib(memory.workspace)}, "
        f"backend={info.backend}, prefill_chunk={chunk})",
        f"{_batching(info, caps)} mixed_prefill_quantum={quantum}",
    )


def _ctx(info: ModelInfo, asked: int) -> str:
    lowered = f" lowered from {asked} to the trained length" if info.n_ctx < asked else ""
    return f"{info.n_ctx}{lowered}"


def _batching(info: ModelInfo, caps: Caps) -> str:
    how = "native batching" if caps.native_batch else "ordered fallback"
    why = f" ({caps.batching_note})" if caps.batching_note else ""
    return f"resident_sessions={info.n_slots} decode={how}{why}"


def _mib(size: int) -> str:
    return f"{size / MIB:.1f} MiB"
