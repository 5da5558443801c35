"""OpenCode: all three APIs, by the AI SDK's provider package that its settings name."""

import json
from collections.abc import Mapping

from clients.client import Api, Command, Job
from ds4.testing.json_lines import objects

PROVIDERS: Mapping[Api, str] = {
    Api.CHAT: "@ai-sdk/openai-compatible",
    Api.RESPONSES: "@ai-sdk/openai",
    Api.MESSAGES: "@ai-sdk/anthropic",
}
QUIET = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")


def command(job: Job) -> Command:
    model = {
        "name": job.model,
        "limit": {"context": job.context, "output": job.output},
        "reasoning": True,
        "tool_call": True,
    }
    provider = {
        "npm": PROVIDERS[job.api],
        "name": "ds4",
        "options": {"baseURL": f"{job.url}/v1", "apiKey": "unused"},
        "models": {job.model: model},
    }
    config = {
        "autoupdate": False,
        "share": "disabled",
        "permission": {"*": "allow"},
        "model": f"ds4/{job.model}",
        "small_model": f"ds4/{job.model}",
        "provider": {"ds4": provider},
    }
    return Command(
        (job.installed.program("opencode"), "run", "--format", "json", job.prompt),
        {f"OPENCODE_DISABLE_{name}": "1" for name in QUIET},
        {".config/opencode/opencode.json": json.dumps(config)},
    )


def complaint(output: str) -> str | None:
    errors = [found for found in objects(output) if found.get("type") == "error"]
    return str(errors[-1].get("error")) if errors else None
