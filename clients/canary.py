"""compatcanary's probes of the OpenAI endpoints."""

import json
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any

from clients.client import Command, Installed, Packages
from clients.process import run
from clients.report import Line, Outcome

NAME = "compatcanary"
PACKAGES = Packages(NAME, "npm", ("compatcanary@0.2.2",))
PROBES = 7


def scan(installed: Installed, url: str, family: str, patience: float) -> Iterator[Line]:
    options = ("scan", "--base-url", f"{url}/v1", "--model", _listed(url), "--format", "json")
    command = Command((str(installed.node), installed.program(NAME), *options), {"OPENAI_API_KEY": "unused"})
    ended = run(command, installed.node, patience)
    results = _results(ended.output)
    if len(results) != PROBES:
        what = f"{len(results)} of {PROBES} probes ran: {ended.errors[-300:]}"
        yield Line(NAME, "", family, Outcome.FAILED, ended.seconds, what)
    for result in results:
        yield judged(result, family)


def _listed(url: str) -> str:
    """A model's name that is in the list: other names are answered too, but the probe wants a listed one."""
    with urllib.request.urlopen(f"{url}/v1/models", timeout=10) as answer:
        return str(json.load(answer)["data"][0]["id"])


def judged(result: Mapping[str, Any], family: str) -> Line:
    """A warning counts as a failure."""
    probe, passed = str(result["id"]), result["status"] == "pass"
    seconds = float(result.get("durationMs", 0)) / 1000
    outcome = Outcome.OK if passed else Outcome.FAILED
    note = probe if passed else f"{probe}: {result.get('summary')}"
    return Line(NAME, probe.partition(".")[0], family, outcome, seconds, note)


def _results(output: str) -> list[dict[str, Any]]:
    try:
        found = json.loads(output)
    except ValueError:
        return []
    results: list[dict[str, Any]] = found["results"]
    return results
