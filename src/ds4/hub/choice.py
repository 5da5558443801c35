"""Which model of a repository a reference means. Pure; a refusal is one sentence that names what there is."""

from collections.abc import Sequence
from dataclasses import dataclass

from ds4.core.errors import ModelError
from ds4.hub.models import HubFile, HubModel, models_in
from ds4.hub.quant import rank, spells
from ds4.hub.reference import HubReference

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Chosen:
    """`files` are all parts of the model, the first one first; `others` what else could be had."""

    files: tuple[HubFile, ...]
    label: str
    others: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


def choose(files: Sequence[HubFile], reference: HubReference) -> Chosen:
    """`files` is all that the repository holds. Raises ModelError."""
    models = models_in(files)
    usable = [model for model in models if not model.projector]
    if not usable:
        raise ModelError(f"{reference.address}: this repository holds no GGUF model")
    if reference.file is not None:
        return _whole(_named(models, reference), (), reference)
    asked = [model for model in usable if not model.companion(reference.repo)]
    found = _spelled(asked, reference) if reference.quant is not None else _preferred(asked)
    if len(found) != 1:
        raise ModelError(_undecided(found or asked or usable, reference))
    others = tuple(dict.fromkeys(model.label for model in asked if model is not found[0]))
    return _whole(found[0], others, reference)


def _named(models: Sequence[HubModel], reference: HubReference) -> HubModel:
    for model in models:
        if any(file.path == reference.file for file in model.files):
            if model.projector:
                raise ModelError(f"{reference}: this file holds an image projector, not a model")
            return model
    raise ModelError(f"{reference}: the repository has no such file; it has {_names(models)}")


def _spelled(models: Sequence[HubModel], reference: HubReference) -> list[HubModel]:
    wanted = reference.quant or ""
    found = [model for model in models if spells(model.name, wanted)]
    if not found:
        labels = _listed([model.label for model in models])
        raise ModelError(f"{reference}: the repository has no {wanted}; it has {labels or 'no model at all'}")
    exact = [model for model in found if model.label == wanted.upper()]
    return exact or found


def _preferred(models: Sequence[HubModel]) -> list[HubModel]:
    """The model to take when nobody chose, or those among which somebody has to."""
    if len(models) == 1:
        return list(models)
    ranks = [place for model in models if (place := rank(model.label)) is not None]
    best = [model for model in models if ranks and rank(model.label) == min(ranks)]
    shortest = min((len(model.label) for model in best), default=0)
    # Of Q4_K_M and UD-Q4_K_M the plain one.
    return [model for model in best if len(model.label) == shortest]


def _whole(model: HubModel, others: tuple[str, ...], reference: HubReference) -> Chosen:
    if model.missing:
        lost = _listed([str(number) for number in model.missing])
        count = len(model.files) + len(model.missing)
        raise ModelError(f"{reference}: {model.name} has {count} parts, of which the repository lacks {lost}")
    return Chosen(model.files, model.label, others)


def _undecided(models: Sequence[HubModel], reference: HubReference) -> str:
    return f"{reference}: choose a file with {reference.address}/FILE.gguf: {_names(models)}"


def _names(models: Sequence[HubModel]) -> str:
    return _listed([model.files[0].path for model in models])


def _listed(names: Sequence[str]) -> str:
    names = list(dict.fromkeys(names))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
