"""GitHub Copilot CLI: all three APIs with a provider of one's own, settings by environment."""

from clients.client import Api, Command, Job


def command(job: Job) -> Command:
    messages = job.api is Api.MESSAGES
    return Command(
        (
            *(str(job.installed.node), job.installed.program("copilot"), "-p", job.prompt),
            *("--allow-all-tools", "--no-color", "--log-level", "none"),
        ),
        {
            "COPILOT_PROVIDER_BASE_URL": job.url if messages else f"{job.url}/v1",
            "COPILOT_PROVIDER_TYPE": "anthropic" if messages else "openai",
            "COPILOT_PROVIDER_WIRE_API": "responses" if job.api is Api.RESPONSES else "completions",
            "COPILOT_PROVIDER_API_KEY": "unused",
            "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": str(job.context - job.output),
            "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS": str(job.output),
            "COPILOT_MODEL": job.model,
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        },
    )
