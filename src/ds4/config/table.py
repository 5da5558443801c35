"""The one table of options. Each field of Config carries the row that sets it.

To add an option, add a field here (one about the cache: in `cache`) and run `make docs`: the parser, `--help`
and docs/server.md follow.
"""

from dataclasses import dataclass
from pathlib import Path

from ds4.api.normalise import BILLING_HEADER, AsSent
from ds4.config.cache import CacheOptions
from ds4.config.option import Topic, flag, option, optional, options_of, repeated
from ds4.config.values import (
    EngineName,
    Secret,
    api_key,
    family,
    family_names,
    host_name,
    integer,
    ipv4,
    model_source,
    normalisation,
    normalisation_names,
    path,
    tool_format,
    tool_format_names,
)
from ds4.engine.llama.options import BackendChoice, FlashAttention, KvType
from ds4.hub import HubReference


@dataclass(frozen=True, slots=True)
class Config(CacheOptions):
    """Everything the command line says. `given` names the attributes that it set."""

    model: Path | HubReference | None = optional(
        "-m",
        "--model",
        topic=Topic.RUNTIME,
        metavar="FILE|hf:REPO",
        read=model_source,
        unset="ds4flash.gguf in the working directory, else the packaged demo model",
        about="model to serve: a GGUF file (the first part of a split one), or hf:OWNER/REPO, "
        "hf:OWNER/REPO:QUANT or hf:OWNER/REPO/FILE, downloaded once into the Hugging Face cache",
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
    chdir: Path | None = optional(
        "--chdir",
        topic=Topic.RUNTIME,
        metavar="DIR",
        read=path,
        unset="stay where started",
        about="change to this directory before opening any file",
    )
    model_family: str | None = optional(
        "--model-family",
        topic=Topic.PROMPT,
        metavar="NAME",
        read=family,
        unset="what the model file says",
        about="prompt and tool-call format to use, whatever the model file says: "
        + ", ".join(family_names()),
    )
    tool_format: str | None = optional(
        "--tool-format",
        topic=Topic.PROMPT,
        metavar="NAME",
        read=tool_format,
        unset="what the chat template shows, else the family's",
        about="how the model writes tool calls: " + ", ".join(tool_format_names()),
    )
    tools_preamble: Path | None = optional(
        "--tools-preamble",
        topic=Topic.PROMPT,
        metavar="FILE",
        read=path,
        unset="the template's text, else a built-in one",
        about="text around the tool schemas, with {tool_schemas} in their place, for a model file that "
        "brings no chat template",
    )
    tools_after_system: bool = flag(
        "--tools-after-system",
        topic=Topic.PROMPT,
        about="put the tools behind the system text, as DeepSeek's own encoder does, not before it; "
        "a changing system text then costs the tools too",
    )
    think_max: Path | None = optional(
        "--think-max",
        topic=Topic.PROMPT,
        metavar="FILE",
        read=path,
        unset="a built-in text",
        about="text that asks DeepSeek V4 for its strongest reasoning effort",
    )
    no_normalise: tuple[str, ...] = repeated(
        "--no-normalise",
        topic=Topic.PROMPT,
        metavar="NAME",
        read=normalisation,
        unset="all are normalised",
        about="leave in the prompt what is otherwise left out because it changes between the requests of one "
        f"session: {' or '.join(normalisation_names())}; may be repeated",
    )
    keep_billing_header: bool = flag(
        "--keep-billing-header",
        topic=Topic.PROMPT,
        about="the same as --no-normalise billing_header: leave Claude Code's x-anthropic-billing-header "
        "line in the prompt, and compute what stands behind it anew whenever it changes",
    )
    host: str = option(
        "--host",
        topic=Topic.SERVER,
        metavar="ADDRESS",
        read=ipv4,
        default="127.0.0.1",
        about="IPv4 address to listen on, or localhost; 0.0.0.0 listens on every interface: ask for keys "
        "(--api-key-file) there",
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
    trace: Path | None = optional(
        "--trace",
        topic=Topic.SERVER,
        metavar="FILE",
        read=path,
        unset="nothing is recorded",
        about="record requests, decisions, steps and answers, prompts in clear; ds4-server trace FILE shows "
        "it, ds4-server replay FILE repeats it",
        common=True,
    )
    trace_redact: bool = flag(
        "--trace-redact",
        topic=Topic.SERVER,
        about="put placeholders of the same length into the trace for clients' and the model's texts; of it "
        "replay repeats what the scheduler decided",
    )
    api_keys: tuple[Secret, ...] = repeated(
        "--api-key",
        topic=Topic.ACCESS,
        metavar="KEY",
        read=api_key,
        unset="none: any key and no key will do",
        secret=True,
        about="key that callers must send; may be repeated. Whoever can list this machine's processes can "
        "read it: --api-key-file keeps it out of sight",
    )
    api_key_file: Path | None = optional(
        "--api-key-file",
        topic=Topic.ACCESS,
        metavar="FILE",
        read=path,
        unset="none",
        about="file with more keys, one a line; empty lines and lines that begin with # are skipped",
    )
    allow_hosts: tuple[str, ...] = repeated(
        "--allow-host",
        topic=Topic.ACCESS,
        metavar="NAME",
        read=host_name,
        unset="localhost and every IP address; any name when keys are asked for beyond this machine",
        about="host name by which clients may call this server; may be repeated",
    )
    cors: bool = flag(
        "--cors",
        topic=Topic.ACCESS,
        about="let web pages of any origin call the server (the CORS headers on every answer); "
        "not access control",
    )
    tls_cert: Path | None = optional(
        "--tls-cert",
        topic=Topic.ACCESS,
        metavar="FILE",
        read=path,
        unset="plain HTTP",
        about="serve HTTPS with this certificate (PEM, its chain may follow); needs --tls-key",
    )
    tls_key: Path | None = optional(
        "--tls-key",
        topic=Topic.ACCESS,
        metavar="FILE",
        read=path,
        unset="none",
        about="private key of the certificate (PEM, without a password)",
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
    mlock: bool = flag(
        "--mlock",
        topic=Topic.BACKEND,
        about="keep the weights in memory, so that the system never swaps them out; says so where the system "
        "refuses",
    )
    warm_weights: bool = flag(
        "--warm-weights",
        topic=Topic.BACKEND,
        about="read the model's files once before loading, so that the first requests do not wait for the "
        "disk; skipped when they are larger than the available memory",
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
    def as_sent(self) -> AsSent:
        """What is not normalised."""
        return frozenset(self.no_normalise) | ({BILLING_HEADER.name} if self.keep_billing_header else set())

    @property
    def n_slots(self) -> int:
        return self.batched_session or 1


OPTIONS = options_of(Config)
