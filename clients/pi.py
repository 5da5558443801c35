"""Pi: all three APIs, by a name in its settings."""

import json
from collections.abc import Mapping

from clients.client import Api, Command, Job
from ds4.testing.json_lines import objects

KINDS: Mapping[Api, str] = {
    Api.CHAT: "openai-completions",
    Api.RESPONSES: "openai-responses",
    Api.MESSAGES: "anthropic-messages",
}


def command(job: Job) -> Command:
    model = {"id": job.model, "contextWindow": job.context, "maxTokens": job.output, "reasoning": True}
    provider = {
        "baseUrl": job.url if job.api is Api.MESSAGES else f"{job.url}/v1",
        "api": KINDS[job.api],
        "apiKey": "unused",
        "models": [model],
    }
    options = ("-p", "--mode", "json", "--provider", "ds4", "--model", job.model)
    return Command(
        (str(job.installed.node), job.installed.program("pi"), *options, job.prompt),
        {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"},
        {".pi/agent/models.json": json.dumps({"providers": {"ds4": provider}})},
    )


def complaint(output: str) -> str | None:
    ends = [found["message"] for found in objects(output) if found.get("type") == "message_end"]
    bad = [end for end in ends if end.get("stopReason") in ("error", "aborted")]
    return str(bad[-1].get("errorMessage")) if bad else None
