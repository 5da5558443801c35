"""What `-m hf:...` names. Pure."""

import re
from dataclasses import dataclass

from ds4.core.errors import OptionError
from ds4.hub.models import is_gguf

PREFIX = "hf:"
MAIN = "main"

_NAME = r"[A-Za-z0-9][\w.-]*"
_REFERENCE = re.compile(
    rf"hf:(?://)?(?P<repo>{_NAME}/{_NAME})(?:@(?P<revision>{_NAME}))?(?::(?P<quant>{_NAME})|/(?P<file>[^:]+))?",
    re.ASCII,
)
_NOT_IN_A_REPO = ("..", "--")
_FORMS = "hf:OWNER/REPO, hf:OWNER/REPO:QUANT or hf:OWNER/REPO/FILE.gguf, each with @REVISION after REPO"


@dataclass(frozen=True, slots=True)
class HubReference:
    """A repository and which model of it: by quantisation, by file, or left to `choice`; never both.

    `file` is a path inside the repository; of a split model it may be any part.
    """

    repo: str
    revision: str = MAIN
    quant: str | None = None
    file: str | None = None

    def __str__(self) -> str:
        revision = "" if self.revision == MAIN else f"@{self.revision}"
        return f"{self.address}{revision}{self._choice}"

    @property
    def address(self) -> str:
        return f"{PREFIX}{self.repo}"

    @property
    def _choice(self) -> str:
        if self.quant is not None:
            return f":{self.quant}"
        return "" if self.file is None else f"/{self.file}"


def parse_reference(text: str) -> HubReference:
    """Raises OptionError, with the forms there are, for everything else."""
    found = _REFERENCE.fullmatch(text)
    if not found or any(part in found["repo"] for part in _NOT_IN_A_REPO):
        raise OptionError(f"-m {text}: a model on the hub is given as {_FORMS}")
    if found["file"] is not None and not is_gguf(found["file"]):
        raise OptionError(f"-m {text}: the part after the repository must be the path of a .gguf file")
    return HubReference(found["repo"], found["revision"] or MAIN, found["quant"], found["file"])
