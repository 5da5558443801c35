"""The one table of options. Each field of Config carries the row that sets it.

To add an option, add a field here and run `make docs`: the parser, `--help` and docs/server.md follow.
"""

from dataclasses import dataclass
from pathlib import Path

from ds4.config.option import Topic, flag, option, optional, options_of
from ds4.config.values import EngineName, family, family_names, integer, ipv4, path
from ds4.engine.llama.options import BackendChoice, FlashAttention, KvType


@dataclass(frozen=True, slots=True)
class Config:
    """Everything the command line says. `given` names the attributes that it set."""

    model: Path | None = optional(
        "-m",
        "--model",
        topic=Topic.RUNTIME,
        metavar="FILE",
        read=path,
        unset="ds4flash.gguf in the working directory, else the packaged demo model",
        about="model to serve, a GGUF file (the first part of a split one)",
        common=True,
    )
    ctx: int = option(
        "-c",
        "--ctx",
        topic=Topic.RUNTIME,
        metavar="N",
        read=integer(1),
        default=32768,
        about="context of each slot in tokens, prompt and answer together; unless given, lowered to the "
        "length the model was trained for",
        common=True,
    )
    tokens: int = option(
        "-n",
        "--tokens",
        topic=Topic.RUNTIME,
        metavar="N",
        read=integer(1),
        default=393216,
        about="longest answer in tokens when the request sets no limit; never beyond the context",
        common=True,
    )
    model_family: str | None = optional(
        "--model-family",
        topic=Topic.RUNTIME,
        metavar="NAME",
        read=family,
        unset="what the model file says",
        about="prompt and tool-call format to use, whatever the model file says: "
        + ", ".join(family_names()),
    )
    chdir: Path | None = optional(
        "--chdir",
        topic=Topic.RUNTIME,
        metavar="DIR",
        read=path,
        unset="stay where started",
        about="change to this directory before opening any file",
    )
    host: str = option(
        "--host",
        topic=Topic.SERVER,
        metavar="ADDRESS",
        read=ipv4,
        default="127.0.0.1",
        about="IPv4 address to listen on, or localhost; 0.0.0.0 listens on every interface and has no "
        "access control of its own",
        common=True,
    )
    port: int = option(
        "--port",
        topic=Topic.SERVER,
        metavar="N",
        read=integer(1, 65535),
        default=8000,
        about="TCP port to listen on",
        common=True,
    )
    cors: bool = flag(
        "--cors",
        topic=Topic.SERVER,
        about="let web pages of any origin call the server (three CORS headers on every answer); "
        "not access control",
    )
    batched_session: int | None = optional(
        "--batched-session",
        topic=Topic.SCHEDULING,
        metavar="N",
        read=integer(1, 256),
        unset="one slot",
        about="keep N slots of --ctx tokens each in memory and decode their requests together",
        common=True,
    )
    max_queue: int = option(
        "--max-queue",
        topic=Topic.SCHEDULING,
        metavar="N",
        read=integer(0),
        default=64,
        about="requests that may wait for a slot; the next one gets 429 with Retry-After (0: none may wait)",
    )
    mixed_prefill_quantum: int = option(
        "--mixed-prefill-quantum",
        topic=Topic.SCHEDULING,
        metavar="N",
        read=integer(1),
        default=128,
        about="prompt tokens computed per step while other requests decode",
    )
    prefill_chunk: int | None = optional(
        "--prefill-chunk",
        topic=Topic.SCHEDULING,
        metavar="N",
        read=integer(1),
        unset="the engine's batch, cut to about a second of work",
        about="most prompt tokens computed per step while nothing decodes",
    )
    backend: BackendChoice = option(
        "--backend",
        topic=Topic.BACKEND,
        metavar="|".join(BackendChoice),
        read=BackendChoice,
        default=BackendChoice.AUTO,
        about="what computes; auto takes the best device this build supports",
        shorthands=tuple((f"--{name}", str(name)) for name in BackendChoice if name != BackendChoice.AUTO),
        common=True,
    )
    threads: int | None = optional(
        "-t",
        "--threads",
        topic=Topic.BACKEND,
        metavar="N",
        read=integer(1, 1024),
        unset="all cores but one",
        about="CPU threads for decoding",
        common=True,
    )
    threads_batch: int | None = optional(
        "--threads-batch",
        topic=Topic.BACKEND,
        metavar="N",
        read=integer(1, 1024),
        unset="all cores",
        about="CPU threads for prompts and batches",
    )
    n_gpu_layers: int | None = optional(
        "--n-gpu-layers",
        topic=Topic.BACKEND,
        metavar="N",
        read=integer(0),
        unset="all of them",
        about="model layers to place on the device; 0 keeps them on the CPU",
    )
    flash_attn: FlashAttention = option(
        "--flash-attn",
        topic=Topic.BACKEND,
        metavar="|".join(FlashAttention),
        read=FlashAttention,
        default=FlashAttention.AUTO,
        about="flash attention; auto lets the engine decide for this model and device",
    )
    kv_type: KvType = option(
        "--kv-type",
        topic=Topic.BACKEND,
        metavar="|".join(KvType),
        read=KvType,
        default=KvType.F16,
        about="number format of the KV cache; q8_0 halves its memory and needs flash attention",
    )
    engine: EngineName = option(
        "--engine",
        topic=Topic.SCRIPTED,
        metavar="|".join(EngineName),
        read=EngineName,
        default=EngineName.LLAMA,
        about="llama runs the model; scripted answers from --script, for tests and for trying clients",
    )
    script: Path | None = optional(
        "--script",
        topic=Topic.SCRIPTED,
        metavar="FILE",
        read=path,
        unset="none",
        about="Python file with reply(prompt: str) -> str: rendered prompt in, raw model output out",
    )
    given: frozenset[str] = frozenset()

    @property
    def n_slots(self) -> int:
        return self.batched_session or 1


OPTIONS = options_of(Config)
