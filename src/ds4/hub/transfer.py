"""One file over HTTP, resumed wherever it stopped, in this run or an earlier one.

Rules:
- The file is asked for in ranges. The hub's content servers refuse to send very large files in one
  answer, and the address of a redirect is valid for a while only.
- What has arrived is in the partial file, in order, and nothing else is. Its length is the whole state.
- A lost connection is tried again with growing pauses, and given up only when nothing came in between.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import httpx2
from huggingface_hub import get_session
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.utils import hf_raise_for_status

from ds4.hub.meter import Meter
from ds4.observe.records import Notice

RANGE_BYTES = 1 << 30
TRIES = 5
TIMEOUT = 30.0
"""Seconds without a byte."""
_PASSING = {408, 429, 500, 502, 503, 504}
_PARTIAL_CONTENT = 206


@dataclass(frozen=True, slots=True)
class Source:
    """`size` in bytes is known beforehand, from the repository's listing."""

    name: str
    url: str
    headers: Mapping[str, str]
    size: int


def download(source: Source, partial: Path, meter: Meter, sleep: Callable[[float], None]) -> None:
    """Completes `partial`. Raises httpx2.HTTPError (the hub's errors are of that kind too) and OSError."""
    with partial.open("ab") as out:
        if out.tell() > source.size:
            _empty(out)
        meter.begin(source.name, out.tell(), source.size)
        try:
            _complete(source, out, meter, sleep)
        finally:
            meter.end()
        out.flush()
        os.fsync(out.fileno())


def _complete(source: Source, out: BinaryIO, meter: Meter, sleep: Callable[[float], None]) -> None:
    failures = 0
    while (start := out.tell()) < source.size:
        try:
            _next_range(source, start, out, meter)
            failures = 0
        except httpx2.HTTPError as error:
            failures = 1 if out.tell() > start else failures + 1
            if failures == TRIES or not _passes(error):
                raise
            pause = 2 ** (failures - 1)
            meter.say(Notice(f"{source.name}: {_cause(error)}, trying again in {pause} s", "warning"))
            sleep(pause)


def _next_range(source: Source, start: int, out: BinaryIO, meter: Meter) -> None:
    last = min(start + RANGE_BYTES, source.size) - 1
    headers = {**source.headers, "Range": f"bytes={start}-{last}", "Accept-Encoding": "identity"}
    with get_session().stream("GET", source.url, headers=headers, timeout=TIMEOUT) as response:
        hf_raise_for_status(response)
        if start and response.status_code != _PARTIAL_CONTENT:
            # The server knows no ranges and sends the whole file.
            _empty(out)
            meter.advance(-start)
            start = 0
        before = out.tell()
        for chunk in response.iter_bytes():
            out.write(chunk)
            meter.advance(len(chunk))
            if out.tell() > source.size:
                break
    if out.tell() == before:
        raise httpx2.RemoteProtocolError("the server sent nothing")


def _empty(out: BinaryIO) -> None:
    out.seek(0)
    out.truncate()


def _passes(error: httpx2.HTTPError) -> bool:
    """May the next try succeed?"""
    if isinstance(error, HfHubHTTPError):
        return error.response.status_code in _PASSING
    return isinstance(error, httpx2.TransportError)


def _cause(error: httpx2.HTTPError) -> str:
    if isinstance(error, HfHubHTTPError):
        return f"the server answered {error.response.status_code}"
    return str(error).partition("\n")[0] or type(error).__name__
