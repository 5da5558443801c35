"""Cline's command: chat, settings by a command of its own."""

import shlex

from clients.client import Command, Job


def command(job: Job) -> Command:
    program = (job.installed.program("cline"),)
    sign_in = (*program, "auth", "-p", "openai", "-k", "unused", "-m", job.model, "-b", f"{job.url}/v1")
    ask = (*program, "--json", "--auto-approve", "true", "-P", "openai", "-m", job.model, job.prompt)
    words = f"{shlex.join(sign_in)} >&2 && {shlex.join(ask)}"
    return Command(("/bin/sh", "-c", words), {"CLINE_TELEMETRY_DISABLED": "1"})
