"""From options to a loaded, checked and probed model: the order of a start."""

from dataclasses import dataclass, replace

from ds4.core.errors import EngineError, ModelError, OptionError, StartError
from ds4.core.step import Caps, MemoryUse, ModelInfo
from ds4.engine.llama.backend import Placement, choose_backend
from ds4.engine.llama.capi import (
    Context,
    ContextParams,
    Model,
    ModelParams,
    Vocab,
    list_backends,
    list_devices,
    read_defaults,
    supports_mlock,
    system_info,
    version,
)
from ds4.engine.llama.files import model_files
from ds4.engine.llama.fit import MemoryNeed, available_bytes, fits
from ds4.engine.llama.guard import check_library, extra_buffers_safe
from ds4.engine.llama.identity import identify
from ds4.engine.llama.options import (
    FlashAttention,
    KvType,
    LlamaOptions,
    batch_rows,
    check_options,
    default_threads,
)
from ds4.engine.llama.probe import find_memory_class, try_batching
from ds4.engine.llama.sketch import CTX_STEP, measure
from ds4.engine.llama.snapshot import Portable, find_portable
from ds4.engine.llama.tokenizer import LlamaTokenizer
from ds4.engine.llama.warm import warm

_FLASH_ATTN = {FlashAttention.AUTO: -1, FlashAttention.OFF: 0, FlashAttention.ON: 1}
_KV_TYPES = {KvType.F16: 1, KvType.Q8_0: 8}  # ggml_type


@dataclass(frozen=True, slots=True)
class Loaded:
    context: Context
    tokenizer: LlamaTokenizer
    info: ModelInfo
    caps: Caps
    memory: MemoryUse
    portable: Portable


def load(options: LlamaOptions) -> Loaded:
    """Raises StartError (also its kinds OptionError and ModelError) with one sentence."""
    check_options(options)
    check_library(version(), read_defaults())
    if options.mlock and not supports_mlock():
        raise OptionError("--mlock: this system cannot lock memory")
    files = model_files(options.model)
    placement = choose_backend(options.backend, options.n_gpu_layers, list_backends(), list_devices())
    params = _model_params(options, placement)
    options = _refuse_unless_it_fits(options, params, placement)
    # The page cache is host memory, whatever the devices have.
    cold = warm(files, available_bytes(())) if options.warm_weights else ""
    model = Model.load(options.model, params)
    notes = tuple(note for note in (cold, _lock_note(model.not_locked)) if note)
    context = Context(model, _context_params(options))
    try:
        loaded = _probed(context, model, options, placement)
        identity = identify(files, context, loaded.portable, options.kv_type)
    except EngineError as error:
        context.close()
        raise StartError(f"{options.model}: the model cannot be run: {error.message}") from error
    return replace(loaded, info=replace(loaded.info, notes=notes, identity=identity))


def _refuse_unless_it_fits(options: LlamaOptions, params: ModelParams, placement: Placement) -> LlamaOptions:
    """Asks llama.cpp, with nothing allocated, what the model takes; gives the options with the context
    that will be used."""
    sketch = Model.load(options.model, replace(params, no_alloc=True))
    if not sketch.generates:
        raise ModelError(f"{options.model}: this model does not generate text token by token")
    options = replace(options, n_ctx=usable_ctx(options, sketch.n_ctx_train))
    sizes = measure(sketch, _context_params(options))
    need = MemoryNeed(
        weights=sketch.bytes,
        kv_per_slot=sizes.kv // options.n_slots,
        workspace=sizes.workspace,
        n_slots=options.n_slots,
        n_ctx=options.n_ctx,
    )
    available = available_bytes(placement.devices)
    refusal = fits(need, available) if available is not None else None
    if refusal:
        raise StartError(refusal)
    return options


def usable_ctx(options: LlamaOptions, n_ctx_train: int) -> int:
    """The context asked for, lowered to the trained length unless the user insists."""
    if options.ctx_given or n_ctx_train <= 0:
        return options.n_ctx
    return min(options.n_ctx, n_ctx_train)


def _model_params(options: LlamaOptions, placement: Placement) -> ModelParams:
    return ModelParams(
        mmap=options.mmap,
        mlock=options.mlock,
        n_gpu_layers=options.n_gpu_layers if placement.devices else 0,
        devices=tuple(device.handle for device in placement.devices),
        extra_buffers=extra_buffers_safe(system_info()),
    )


def _context_params(options: LlamaOptions) -> ContextParams:
    decode, prefill = default_threads()
    n_batch = batch_rows(options)
    return ContextParams(
        n_ctx=-(-options.n_ctx // CTX_STEP) * CTX_STEP,
        n_slots=options.n_slots,
        n_batch=n_batch,
        n_ubatch=min(options.n_ubatch, n_batch),
        threads=options.threads or decode,
        threads_batch=options.threads_batch or prefill,
        flash_attn=_FLASH_ATTN[options.flash_attn],
        kv_type=_KV_TYPES[options.kv_type],
    )


def _lock_note(reason: str) -> str:
    if not reason:
        return ""
    return f"--mlock: the weights are not locked in memory ({reason}); try a higher `ulimit -l`"


def _probed(context: Context, model: Model, options: LlamaOptions, placement: Placement) -> Loaded:
    memory_class = find_memory_class(context, model)
    batching = try_batching(context)
    portable = find_portable(context)
    tokenizer = LlamaTokenizer(Vocab(model))
    return Loaded(
        context=context,
        tokenizer=tokenizer,
        info=_info(context, model, options, placement),
        caps=Caps(
            trim=memory_class.trim,
            native_batch=batching.native,
            memory_class=memory_class.name,
            window=memory_class.window,
            batching_note=batching.note,
            min_quantum=options.min_quantum,
        ),
        memory=MemoryUse(
            model=model.bytes,
            kv_per_slot=context.kv_bytes // options.n_slots,
            workspace=context.workspace_bytes,
        ),
        portable=portable,
    )


def _info(context: Context, model: Model, options: LlamaOptions, placement: Placement) -> ModelInfo:
    return ModelInfo(
        name=model.meta("general.name") or options.model.stem,
        arch=model.meta("general.architecture") or "",
        family=options.family,
        path=str(options.model),
        n_ctx=options.n_ctx,
        n_ctx_train=model.n_ctx_train,
        n_slots=options.n_slots,
        n_batch=context.n_batch,
        n_vocab=context.n_vocab,
        backend=placement.name,
        chat_template=model.chat_template,
    )
