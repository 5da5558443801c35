"""Codex: Responses, settings in a file."""

from clients.client import Command, Job
from ds4.testing.json_lines import objects

CONFIG = """\
model = "{model}"
model_provider = "ds4"
model_context_window = {context}
model_auto_compact_token_limit = {compact}
check_for_update_on_startup = false
web_search = "disabled"

[analytics]
enabled = false

[features]
plugins = false
apps = false

[model_providers.ds4]
name = "ds4"
base_url = "{url}/v1"
env_key = "DS4_KEY"
wire_api = "responses"
"""


def command(job: Job) -> Command:
    config = CONFIG.format(
        model=job.model, context=job.context, compact=job.context - 2 * job.output, url=job.url
    )
    options = ("--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
    return Command(
        (job.installed.program("codex"), "exec", *options, job.prompt),
        {"DS4_KEY": "unused"},
        {".codex/config.toml": config},
    )


def complaint(output: str) -> str | None:
    found = list(objects(output))
    failed = [event for event in found if event.get("type") in ("turn.failed", "error")]
    if failed:
        return str(failed[-1].get("error") or failed[-1].get("message"))
    return None if any(event.get("type") == "turn.completed" for event in found) else "no completed turn"
