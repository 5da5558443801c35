"""What the command line says: one option table, read as a Config, as help and as a page of the docs."""

from ds4.config.model import ModelChoice, choose_model
from ds4.config.parse import HelpRequest, parse
from ds4.config.table import Config
from ds4.config.values import EngineName

__all__ = [
    "Config",
    "EngineName",
    "HelpRequest",
    "ModelChoice",
    "choose_model",
    "parse",
]
