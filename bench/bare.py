"""The floor: decode and argmax through the binding, with nothing of the server around it."""

from time import perf_counter

import numpy as np

from bench.load import Load, Stream
from ds4.engine.llama import LlamaEngine


def run(engine: LlamaEngine, load: Load) -> list[Stream]:
    """Belongs on the engine thread. Prompt i runs in slot i; all prompts must fit one batch."""
    context = engine._context  # noqa: SLF001  (the floor lies below the engine's own seam)
    batch = context.batch
    for slot in range(len(load.prompts)):
        engine.clear(slot)
    sent = perf_counter()
    batch.clear()
    rows = [
        batch.add(slot, 0, np.array(ids, dtype=np.int32), logits=True)
        for slot, ids in enumerate(load.prompts)
    ]
    times: list[float] = []
    for step in range(load.tokens):
        context.decode()
        last = [int(context.logits(row).argmax()) for row in rows]
        for token in last:
            engine.tokenizer.piece(token)
        times.append(perf_counter())
        batch.clear()
        rows = [
            batch.add(slot, len(ids) + step, np.array([token], dtype=np.int32), logits=True)
            for slot, (ids, token) in enumerate(zip(load.prompts, last, strict=True))
        ]
    for slot in range(len(load.prompts)):
        engine.clear(slot)
    return [Stream(sent, tuple(times)) for _ in load.prompts]
