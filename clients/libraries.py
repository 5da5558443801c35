"""SDKs and frameworks, by the programs of ours that use them."""

import shutil
from collections.abc import Callable
from pathlib import Path

from clients.client import Command, Job

PROGRAMS = Path(__file__).parent / "programs"
QUIET = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "LANGSMITH_TRACING": "false",
}


def python(program: str) -> Callable[[Job], Command]:
    def command(job: Job) -> Command:
        words = (job.installed.program("python"), "-B", str(PROGRAMS / program), job.prompt)
        return Command(words, {**_seen(job), **QUIET})

    return command


def javascript(program: str, **more: str) -> Callable[[Job], Command]:
    """`more` goes into the environment."""

    def command(job: Job) -> Command:
        # Modules are looked for from where the program lies.
        for name in (program, "task.mjs"):
            shutil.copy(PROGRAMS / name, job.installed.folder / name)
        words = (str(job.installed.node), str(job.installed.folder / program), job.prompt)
        return Command(words, {**_seen(job), **more})

    return command


def _seen(job: Job) -> dict[str, str]:
    return {"DRIVE_URL": job.url, "DRIVE_API": job.api.value, "DRIVE_MODEL": job.model}
