"""A trace for people: one section a request, in the order in which they end. Pure wording.

Texts are shown as they are, line breaks included; what could steer a terminal is escaped.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from ds4.observe.trace.tale import JobTale, Line, Tale, Tales
from ds4.observe.trace.values import Json, unpacked
from ds4.observe.trace.window import window
from ds4.observe.words import printable

HEADLINE = "====="


class Reader:
    """Takes lines, gives the text of what they end. `request`: only that one, by number or id."""

    def __init__(self, request: str | None = None) -> None:
        self._request = request
        self._tales = Tales()

    def take(self, line: Json) -> Iterator[str]:
        ended = self._tales.take(line)
        if ended is not None and self._wanted(ended):
            yield from _section(ended, self._tales)
        match dict(line):
            case {"at": "head"} if self._request is None:
                yield from _head(self._tales.head)
            case {"at": "lost", "lines": lines}:
                yield f"--- trace: {lines} lines were lost here ---"

    def rest(self) -> Iterator[str]:
        """What has not ended."""
        for tale in self._tales.open.values():
            if self._wanted(tale):
                yield from _section(tale, self._tales)

    def _wanted(self, tale: Tale) -> bool:
        return self._request is None or self._request in tale.named


def _head(head: Line) -> Iterator[str]:
    model, info = head["model"], head["model"]["info"]
    yield f"{HEADLINE} server {_time(head['t'][1])} {HEADLINE}"
    yield f"version: {head['version']}"
    how = f"arch={info['arch']}, family={model['family']}, tools={model['tool_format']}"
    yield f"model: {info['name']} ({how})"
    yield f"identity: {' '.join(filter(None, info['identity'].values()))}"
    yield f"memory: {model['caps']['memory_class']}"
    yield f"n_ctx: {info['n_ctx']}"
    yield f"n_slots: {info['n_slots']}"
    yield f"redacted: {int(head['redacted'])}"


def _section(tale: Tale, tales: Tales) -> Iterator[str]:
    line = tale.line
    when = _time(line["t"][1]) if line else "?"
    yield ""
    yield f"{HEADLINE} request {tale.number} {when} {HEADLINE}"
    if line:
        yield f"{line['method']} {line['path']}" + (f"?{line['query']}" if line["query"] else "")
    yield from (f"id: {one}" for one in tale.ids)
    body = _text(line.get("body", ""))
    raw = _object(body)
    for job in tale.jobs.values():
        yield from _fields(job, raw, tale.asked[-1] if tale.asked else {})
        yield from _decision(job, tales.pieces)
    yield "--- raw request json ---"
    yield body
    for job in tale.jobs.values():
        yield from _course(job, tales)
    if not any(job.finished for job in tale.jobs.values()):
        yield from _answer(tale)
    if tale.left:
        yield "--- trace: the client left ---"
    yield f"{HEADLINE} end request {tale.number} {HEADLINE}"


def _fields(job: JobTale, raw: Mapping[str, Any], asked: Mapping[str, Any]) -> Iterator[str]:
    line, sampling = job.line, job.line["sampling"]
    report = _report(job)
    yield f"job: {line['job']}"
    yield f"kind: {line['kind']}"
    yield f"model: {printable(str(raw.get('model', '')))}"
    yield f"stream: {int(bool(raw.get('stream')))}"
    yield f"flags: {' '.join(line['flags'])}"
    yield f"tools: {len(asked.get('tools') or ())}"
    yield f"think_mode: {_think_mode(asked.get('thinking') or {})}"
    yield f"prompt_tokens: {line['rows']}"
    if report:
        yield f"effective_prompt_tokens: {report['reused'] + report['computed']}"
        yield f"cached_tokens: {report['reused']}"
    yield f"max_tokens: {line['max_tokens']}"
    for name in ("temperature", "top_p", "min_p"):
        yield f"{name}: {sampling[name]:.3f}"
    for name in ("top_k", "seed", "ignore_eos", "logprobs"):
        yield f"{name}: {sampling[name]}"
    if line["normalised"]:
        yield f"left_out: {' '.join(line['normalised'])}"


def _think_mode(thinking: Mapping[str, Any]) -> str:
    """What the caller asked; the family decides where it says nothing."""
    words = {None: "default", True: "on", False: "none"}
    return str(thinking.get("effort") or words[thinking.get("enabled")])


def _decision(job: JobTale, pieces: Mapping[int, bytes]) -> Iterator[str]:
    report = _report(job)
    if report is None or job.started is None:
        return
    yield "--- cache decision ---"
    yield f"slot: {job.started['slot']}"
    yield f"held_tokens: {report['held']}"
    yield f"common_tokens: {report['common']}"
    yield f"cache_source: {report['source']}"
    yield f"miss_reason: {report['reason']}"
    yield f"computed_tokens: {report['computed']}"
    for name in ("rewound", "healed", "displaced", "restored_bytes", "other_quant"):
        if report[name]:
            yield f"{name}: {report[name]}"
    for name in ("restore_seconds", "waited_seconds"):
        if report[name]:
            yield f"{name}: {report[name]:.4f}"
    if job.prices:
        rates = ", ".join(f"{name} {price:.3g}" for name, price in zip(_MOVES, job.prices, strict=False))
        yield f"rates: prefill {job.prefill_rate or 0:.1f} t/s; rows per byte: {rates}"
    yield from _put_back(report.get("replay") or {})
    difference = report["difference"]
    if difference:
        yield f"first_mismatch_token: {difference['row']}"
        if difference["message"] is not None:
            yield f"message: {difference['message']}"
        yield from window(difference, pieces)


def _put_back(replay: Mapping[str, Any]) -> Iterator[str]:
    """Answers of the history that stand there as they were sampled, and those that are known and do not."""
    if not replay:
        return
    yield f"replayed_answers: {replay['turns']}"
    for one in replay["refused"]:
        yield f"answer_as_sent: message {one['message']} ({one['why']})"
    if replay.get("behind"):
        yield f"answers_unknown_behind: {replay['behind']}"


_MOVES = ("copy", "export", "load", "fetch")


def _course(job: JobTale, tales: Tales) -> Iterator[str]:
    yield f"--- rendered prompt ({job.line['job']}) ---"
    yield _safe(job.line["text"])
    yield "--- generated text ---"
    yield _safe(_spelled(job.tokens, tales.pieces))
    room = int(tales.head["model"]["info"]["n_ctx"]) - int(job.line["rows"]) if tales.head else 0
    yield from (f"--- trace: {words} ---" for words in _happened(job, room))
    if job.finished is None:
        return
    yield "--- parsed message ---"
    yield f"finish: {job.finished['finish']}"
    if job.finished["error"]:
        yield f"error: {_safe(job.finished['error'])}"
    yield f"generated_tokens: {job.finished['generated']}"
    if forced := job.finished.get("forced"):
        yield f"forced_tokens: {forced}"
    yield f"elapsed_sec: {job.finished['elapsed']:.3f}"
    yield from _parsed([event for _, event in job.events])
    for saved in job.finished["report"]["saved"]:
        yield f"saved: {saved['reason']}/{saved['tier']}:{saved['rows']} ({saved['size']} bytes)"


def _happened(job: JobTale, room: int) -> Iterator[str]:
    prefill = [step for step in job.steps if step.prefill]
    decode = [step for step in job.steps if not step.prefill]
    if prefill:
        rows = sum(step.rows for step in prefill)
        yield f"prefill done: {rows} rows in {len(prefill)} steps, {_sum(prefill)}, ctx_room={room}"
    if decode:
        yield f"decode: {len(decode)} steps, {_sum(decode)}"
    for at, event in job.events:
        match event:
            case {"kind": "ToolStart", "index": index, "name": name}:
                yield f"tool_call[{index}] {_safe(name)} begins at +{at - job.begun:.3f} s"
            case {"kind": "ToolEnd", "index": index}:
                yield f"tool_call[{index}] ends at +{at - job.begun:.3f} s"
            case {"kind": "Failed", "error": [kind, message]}:
                yield f"failed: {kind}: {_safe(message)}"


def _parsed(events: Iterable[Line]) -> Iterator[str]:
    reasoning, content = [], []
    calls: dict[int, list[str]] = {}
    for event in events:
        match event:
            case {"kind": "Reasoning", "text": text}:
                reasoning.append(text)
            case {"kind": "Text", "text": text}:
                content.append(text)
            case {"kind": "ToolStart", "index": index}:
                calls[index] = [f"id={event['id']} name={event['name']} arguments="]
            case {"kind": "ToolArgs", "index": index, "text": text}:
                calls[index].append(text)
            case {"kind": "Finish", "usage": usage}:
                yield "usage: " + " ".join(f"{name}={n}" for name, n in usage.items() if name != "kind")
    if reasoning:
        yield f"reasoning: {_safe(''.join(reasoning))}"
    yield f"content: {_safe(''.join(content))}"
    for index, words in calls.items():
        yield f"tool_call[{index}]: {_safe(''.join(words))}"


def _answer(tale: Tale) -> Iterator[str]:
    """What the client got, where there is no parsed message to show."""
    if tale.sent:
        yield "--- answer ---"
        yield f"status: {tale.sent[0].get('status')}"
        yield _safe(b"".join(unpacked(line.get("body", "")) for line in tale.sent).decode(errors="replace"))


def _report(job: JobTale) -> Line | None:
    known = job.finished or job.started
    return None if known is None else dict(known["report"])


def _sum(steps: Iterable[Any]) -> str:
    return f"{sum(step.seconds for step in steps):.3f} s"


def _spelled(tokens: Iterable[int], pieces: Mapping[int, bytes]) -> str:
    return b"".join(pieces.get(token, b"?") for token in tokens).decode(errors="replace")


def _object(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _text(packed: object) -> str:
    return _safe(unpacked(packed).decode(errors="replace"))


def _safe(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))


def _time(wall: float) -> str:
    return f"{datetime.fromtimestamp(wall):%Y-%m-%d %H:%M:%S}"
