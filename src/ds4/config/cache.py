"""The options about what is kept of prompts, in memory and on disk. Part of the one table."""

from dataclasses import dataclass
from pathlib import Path

from ds4.config.option import Topic, flag, option, optional
from ds4.config.values import integer, path


@dataclass(frozen=True, slots=True)
class CacheOptions:
    kv_ram_mb: int | None = optional(
        "--kv-ram-mb",
        topic=Topic.CACHE,
        metavar="N",
        read=integer(0),
        unset="a share of the free memory",
        about="memory for the states of conversations that hold no slot, in MiB; 0 keeps none",
    )
    kv_disk_dir: Path | None = optional(
        "--kv-disk-dir",
        topic=Topic.CACHE,
        metavar="DIR",
        read=path,
        unset="nothing is kept on disk",
        about="keep checkpoints of conversations in this directory, so that they survive a restart; made "
        "with mode 0700. It holds prompts in clear",
        common=True,
    )
    kv_disk_space_mb: int = option(
        "--kv-disk-space-mb",
        topic=Topic.CACHE,
        metavar="N",
        read=integer(1),
        default=4096,
        about="disk space for --kv-disk-dir in MiB; what is worth least goes first",
    )
    kv_disk_write_mb_per_hour: int = option(
        "--kv-disk-write-mb-per-hour",
        topic=Topic.CACHE,
        metavar="N",
        read=integer(0),
        default=0,
        about="most MiB written to --kv-disk-dir in an hour, to spare an SSD; 0: no limit",
    )
    kv_cache_min_tokens: int = option(
        "--kv-cache-min-tokens",
        topic=Topic.CACHE,
        metavar="N",
        read=integer(1),
        default=512,
        about="shorter states are neither written to disk nor read from it",
    )
    kv_cache_cold_max_tokens: int = option(
        "--kv-cache-cold-max-tokens",
        topic=Topic.CACHE,
        metavar="N",
        read=integer(0),
        default=30000,
        about="a first prompt of up to this many tokens is written to disk at once; 0: none is",
    )
    kv_cache_continued_interval_tokens: int = option(
        "--kv-cache-continued-interval-tokens",
        topic=Topic.CACHE,
        metavar="N",
        read=integer(0),
        default=10000,
        about="a conversation is written to disk each time it has grown by this many tokens, rounded up to "
        "--kv-cache-boundary-align-tokens; 0: it is not",
    )
    kv_cache_boundary_trim_tokens: int = option(
        "--kv-cache-boundary-trim-tokens",
        topic=Topic.CACHE,
        metavar="N",
        read=integer(0),
        default=32,
        about="tokens at the end of a first prompt that are left out of what is written, since the next "
        "prompt may differ there",
    )
    kv_cache_boundary_align_tokens: int = option(
        "--kv-cache-boundary-align-tokens",
        topic=Topic.CACHE,
        metavar="N",
        read=integer(0),
        default=2048,
        about="a first prompt is written up to a multiple of this many tokens; 0: to any length",
    )
    kv_cache_reject_different_quant: bool = flag(
        "--kv-cache-reject-different-quant",
        topic=Topic.CACHE,
        about="do not use checkpoints that another quantisation of the same model has written",
    )
    tool_memory_max_ids: int = option(
        "--tool-memory-max-ids",
        topic=Topic.CACHE,
        metavar="N",
        read=integer(1),
        default=100_000,
        about="remember the tokens of answers with so many tool calls in all (an answer without one "
        "counts as one), so that what clients send back of them is replayed exactly; at most 512 MiB",
    )
    disable_exact_dsml_tool_replay: bool = flag(
        "--disable-exact-dsml-tool-replay",
        topic=Topic.CACHE,
        about="remember and replay nothing: prompts are what the template makes of what the client sends, in "
        "every format",
    )
    reasoning_by_template: bool = flag(
        "--reasoning-by-template",
        topic=Topic.CACHE,
        about="keep earlier reasoning in a prompt only where the model's template does; by default what is "
        "replayed has all of its reasoning, and nothing must be computed again",
    )
