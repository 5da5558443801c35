"""From a Config to running parts: the only place that names concrete classes side by side."""

from ds4.wiring.access import access, tls
from ds4.wiring.answers import readers
from ds4.wiring.blueprint import AnswerStyle, Blueprint, blueprint
from ds4.wiring.cache import cache_plan
from ds4.wiring.guides import guides
from ds4.wiring.replaying import replaying
from ds4.wiring.services import limits, new_ids, services

__all__ = [
    "AnswerStyle",
    "Blueprint",
    "access",
    "blueprint",
    "cache_plan",
    "guides",
    "limits",
    "new_ids",
    "readers",
    "replaying",
    "services",
    "tls",
]
