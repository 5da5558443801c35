"""Claude Code: Messages, settings by environment."""

from collections.abc import Callable

from clients.client import Command, Job
from ds4.testing.json_lines import objects


def claude(*options: str) -> Callable[[Job], Command]:
    def command(job: Job) -> Command:
        return Command(
            (
                *(job.installed.program("claude"), "-p", job.prompt),
                *("--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"),
                *options,
            ),
            {
                "ANTHROPIC_BASE_URL": job.url,
                "ANTHROPIC_AUTH_TOKEN": "unused",
                "ANTHROPIC_MODEL": job.model,
                "ANTHROPIC_DEFAULT_HAIKU_MODEL": job.model,
                "CLAUDE_CODE_MAX_CONTEXT_TOKENS": str(job.context),
                "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(job.output),
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
                # Root may skip permissions only where it says that nothing is at stake.
                "IS_SANDBOX": "1",
            },
        )

    return command


def complaint(output: str) -> str | None:
    results = [found for found in objects(output) if found.get("type") == "result"]
    if not results:
        return "no result"
    last = results[-1]
    return str(last.get("result") or last.get("subtype")) if last.get("is_error") else None
