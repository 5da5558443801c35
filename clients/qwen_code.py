"""Qwen Code: chat, settings in a file and by environment."""

import json

from clients.client import Command, Job
from ds4.testing.json_lines import objects

SETTINGS = {
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
    "security": {"auth": {"selectedType": "openai"}},
}


def command(job: Job) -> Command:
    program = (str(job.installed.node), job.installed.program("qwen"))
    return Command(
        (*program, "-y", "-o", "stream-json", job.prompt),
        {
            "OPENAI_BASE_URL": f"{job.url}/v1",
            "OPENAI_API_KEY": "unused",
            "OPENAI_MODEL": job.model,
            "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
        },
        {".qwen/settings.json": json.dumps(SETTINGS)},
    )


def complaint(output: str) -> str | None:
    results = [found for found in objects(output) if found.get("type") == "result"]
    if not results:
        return "no result"
    return str(results[-1].get("error")) if results[-1].get("is_error") else None
