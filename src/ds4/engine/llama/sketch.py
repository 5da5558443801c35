"""What a context will take, asked of llama.cpp with nothing allocated.

llama.cpp knows every memory class, and reports sizes also for a model loaded without its weights. It does
allocate bookkeeping for each row, though (some 40 bytes), so that an absurd context would be a burden already
here: beyond a bound, two smaller ones are measured and the rest is a straight line.
"""

from dataclasses import dataclass, replace

from ds4.engine.llama.capi import Context, ContextParams, Model

MAX_CELLS = 1 << 20
CTX_STEP = 256
"""llama.cpp rounds a context up to this many rows."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes for `n_ctx` rows per slot."""

    n_ctx: int
    kv: int
    workspace: int


def measure(sketch: Model, params: ContextParams) -> Sizes:
    """Exact up to MAX_CELLS rows in all slots together, estimated beyond. Raises StartError."""
    most = MAX_CELLS // params.n_slots
    if params.n_ctx <= most:
        return _measured(sketch, params)
    large = _measured(sketch, replace(params, n_ctx=most))
    small = _measured(sketch, replace(params, n_ctx=most // 2))
    return extrapolated(small, large, params.n_ctx)


def extrapolated(small: Sizes, large: Sizes, n_ctx: int) -> Sizes:
    def at(first: int, second: int) -> int:
        slope = (second - first) / (large.n_ctx - small.n_ctx)
        return second + round(slope * (n_ctx - large.n_ctx))

    return Sizes(n_ctx, at(small.kv, large.kv), at(small.workspace, large.workspace))


def _measured(sketch: Model, params: ContextParams) -> Sizes:
    context = Context(sketch, params)
    context.close()
    return Sizes(params.n_ctx, context.kv_bytes, context.workspace_bytes)
