"""What is kept beside the slots: how much RAM, which directory."""

from collections.abc import Callable
from pathlib import Path

from ds4.config import Config
from ds4.core.ports import Clock, Engine
from ds4.engine.llama.fit import available_bytes
from ds4.kv.disk import DiskSettings, DiskStore, open_store
from ds4.kv.policy import Knobs
from ds4.kv.replay.database import FILE, Database
from ds4.kv.replay.disk_copy import Disk, DiskCopy
from ds4.kv.replay.memory import Bounds
from ds4.kv.replay.notebook import Notebook, Options
from ds4.observe.records import Notice, Observer
from ds4.schedule.scheduler import CachePlan

MIB = 1 << 20
RAM_SHARE = 0.25
"""Of what is free once the model is loaded."""
RAM_MOST = 8192 * MIB
MARKS_SHARE = 0.25
"""Of the RAM tier, beside it: marks are small and spare long prefills."""
MARKS_LEAST = 256 * MIB


def cache_plan(
    config: Config, engine: Engine, clock: Clock, observe: Observer, answers: Callable[[Disk], Disk]
) -> CachePlan:
    """Opens the cache directory, which takes as long as much is in it. What cannot be had is said.

    `answers` may stand between the notebook and its disk.
    """
    ram = _ram_bytes(config)
    marks = max(MARKS_LEAST, int(ram * MARKS_SHARE))
    observe(Notice(f"KV RAM cache {ram // MIB} MiB (checkpoints for rewinding {marks // MIB} MiB)"))
    store = None if config.kv_disk_dir is None else _store(config, config.kv_disk_dir, engine, clock, observe)
    knobs = _knobs(config, saves=store is not None)
    if store is not None:
        observe(Notice(_disk_line(config, knobs)))
    notebook = (
        None if config.disable_exact_dsml_tool_replay else _notebook(config, engine, clock, observe, answers)
    )
    return CachePlan(knobs, ram, marks, store, notebook)


def _disk_line(config: Config, knobs: Knobs) -> str:
    saves = f"min={knobs.min_tokens} cold_max={knobs.cold_max} interval={knobs.spacing} align={knobs.align}"
    return f"KV disk cache {config.kv_disk_dir} (budget={config.kv_disk_space_mb} MiB {saves})"


def _knobs(config: Config, *, saves: bool) -> Knobs:
    return Knobs(
        min_tokens=config.kv_cache_min_tokens,
        cold_max=config.kv_cache_cold_max_tokens,
        interval=config.kv_cache_continued_interval_tokens,
        trim=config.kv_cache_boundary_trim_tokens,
        align=config.kv_cache_boundary_align_tokens,
        saves=saves,
    )


def _store(
    config: Config, directory: Path, engine: Engine, clock: Clock, observe: Observer
) -> DiskStore | None:
    info, memory = engine.info, engine.memory()
    settings = DiskSettings(
        directory=directory,
        space=config.kv_disk_space_mb * MIB,
        min_rows=config.kv_cache_min_tokens,
        reject_other_quant=config.kv_cache_reject_different_quant,
        write_per_hour=config.kv_disk_write_mb_per_hour * MIB,
    )
    return open_store(
        settings,
        info.identity,
        row_bytes=max(1, memory.kv_per_slot // info.n_ctx),
        trim=engine.caps.trim,
        clock=clock,
        observe=observe,
    )


def _notebook(
    config: Config, engine: Engine, clock: Clock, observe: Observer, answers: Callable[[Disk], Disk]
) -> Notebook:
    bounds = Bounds(config.tool_memory_max_ids)
    options = Options(bounds, keeps_reasoning=not config.reasoning_by_template)
    if config.kv_disk_dir is None:
        return Notebook(options, clock)
    database = Database(config.kv_disk_dir / FILE, engine.info.identity.model, bounds, clock)
    return Notebook(options, clock, answers(DiskCopy(database, observe)))


def _ram_bytes(config: Config) -> int:
    if config.kv_ram_mb is not None:
        return config.kv_ram_mb * MIB
    free = available_bytes(())
    return 0 if free is None else min(RAM_MOST, int(free * RAM_SHARE))
