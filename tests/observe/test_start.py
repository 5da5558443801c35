from ds4.core.step import Caps, MemoryUse, ModelInfo, Trim
from ds4.observe.start import start_lines

MIB = 1 << 20


def lines(*, asked_ctx: int = 4096, native: bool = True, note: str = "") -> tuple[str, ...]:
    info = ModelInfo("Tiny", "llama", "chatml", "/m.gguf", 4096, 8192, 4, 512, 1000, "cpu")
    caps = Caps(Trim.ANY, native_batch=native, memory_class="plain", batching_note=note)
    memory = MemoryUse(model=92 * MIB, kv_per_slot=90 * MIB, workspace=18 * MIB)
    return start_lines(info, caps, memory, asked_ctx=asked_ctx, quantum=128, chunk=512)


def test_the_start_says_what_was_loaded_and_what_it_costs() -> None:
    assert lines() == (
        "loaded Tiny (arch=llama, family=chatml, memory=plain, weights=92.0 MiB, trained_ctx=8192)",
        "context buffers 378.0 MiB (ctx=4096, slots=4, kv_per_slot=90.0 MiB, shared_workspace=18.0 MiB, "
        "backend=cpu, prefill_chunk=512)",
        "resident_sessions=4 decode=native batching mixed_prefill_quantum=128",
    )


def test_a_lowered_context_is_said() -> None:
    assert "ctx=4096 lowered from 32768 to the trained length," in lines(asked_ctx=32768)[1]


def test_the_ordered_fallback_is_named_with_its_reason() -> None:
    said = lines(native=False, note="rows of two slots came out wrong together")[2]
    assert "decode=ordered fallback (rows of two slots came out wrong together)" in said
