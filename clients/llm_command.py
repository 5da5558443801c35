"""llm: chat, settings in two files, the tool as a Python function."""

import json

from clients.client import Command, Job
from clients.libraries import PROGRAMS

SETTINGS = ".config/io.datasette.llm"


def command(job: Job) -> Command:
    model = {
        "model_id": "local",
        "model_name": job.model,
        "api_base": f"{job.url}/v1",
        "api_key_name": "local",
        "supports_tools": True,
    }
    return Command(
        (
            *(job.installed.program("llm"), "-m", "local", "--no-log"),
            *("--functions", str(PROGRAMS / "write_file.py"), job.prompt),
        ),
        {},
        # JSON is YAML.
        {
            f"{SETTINGS}/extra-openai-models.yaml": json.dumps([model]),
            f"{SETTINGS}/keys.json": json.dumps({"local": "unused"}),
        },
    )
