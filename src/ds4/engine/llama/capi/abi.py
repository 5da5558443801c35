"""What the loaded library says about its own structs, for the start-up guard."""

from dataclasses import dataclass

from ds4.engine.llama.capi.native import llama


@dataclass(frozen=True, slots=True)
class AbiDefaults:
    """Default parameters as the binding's structs read them. Structs are passed by value: when the
    library's layout differs, these come out shifted, and every later call would be undefined."""

    n_ctx: int
    n_batch: int
    n_ubatch: int
    n_seq_max: int
    type_k: int
    type_v: int
    flash_attn_type: int
    offload_kqv: bool
    op_offload: bool
    swa_full: bool
    no_perf: bool
    kv_unified: bool
    n_gpu_layers: int
    split_mode: int
    load_mode: int
    use_extra_bufts: bool
    load_mtp: bool


_CONTEXT_FIELDS = AbiDefaults.__match_args__[:12]
_MODEL_FIELDS = AbiDefaults.__match_args__[12:]


def read_defaults() -> AbiDefaults:
    context = llama.llama_context_default_params()
    model = llama.llama_model_default_params()
    return AbiDefaults(
        *(getattr(context, name) for name in _CONTEXT_FIELDS),
        *(getattr(model, name) for name in _MODEL_FIELDS),
    )
