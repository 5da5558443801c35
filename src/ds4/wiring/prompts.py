"""The operator's decisions about prompts."""

from pathlib import Path

from ds4.config import Config
from ds4.core.errors import StartError
from ds4.formats.family import Family
from ds4.formats.preamble import THINK_MAX, preamble_origin, read_preamble, think_max_origin
from ds4.observe.records import Notice, Observer
from ds4.prompt.options import PromptOptions


def prompt_options(
    config: Config, family: Family, template: str, n_ctx: int, observe: Observer
) -> PromptOptions:
    """Reads the operator's texts and says whose they are. Raises StartError."""
    preamble = think_max = None
    if config.tools_preamble is None and template == family.template:
        observe(Notice(f"prompts by the built-in layout {template} (tools preamble: own text)"))
    if config.tools_preamble is not None:
        preamble = read_preamble(_text("--tools-preamble", config.tools_preamble))
        observe(Notice(f"tools preamble {config.tools_preamble} ({preamble_origin(preamble)} text)"))
    if config.think_max is not None:
        think_max = _text("--think-max", config.think_max)
        observe(Notice(f"think max {config.think_max} ({think_max_origin(think_max)} text)"))
    return PromptOptions(
        n_ctx=n_ctx,
        efforts=family.efforts,
        tools_first=not config.tools_after_system,
        preamble=preamble,
        think_max=THINK_MAX if think_max is None else think_max,
    )


def _text(option: str, path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise StartError(f"{option} {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise StartError(f"{option} {path}: not a UTF-8 text") from None
