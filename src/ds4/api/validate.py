"""Request models: the base class, and one sentence for whatever is wrong."""

from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails

from ds4.core.errors import BadRequest

M = TypeVar("M", bound="Body")

PROBLEMS = {
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "int_type": "must be an integer",
    "float_type": "must be a number",
    "list_type": "must be an array",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
}


ALTERNATIVES = ("str", "int", "float", "bool")


class Body(BaseModel):
    """null is absent, unknown fields are skipped, types are not converted."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, value: object) -> object:
        if isinstance(value, dict):
            return {key: item for key, item in value.items() if item is not None}
        return value


def _whole_number(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


Integer = Annotated[int, BeforeValidator(_whole_number)]
"""JSON has one kind of number: 8.0 is an integer, too."""


def validated(model: type[M], value: object) -> M:
    """Raises BadRequest for the first problem; `param` is the dotted path of the field."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _bad_request(error.errors(include_url=False, include_input=False)[0]) from None


def _bad_request(problem: ErrorDetails) -> BadRequest:
    # Where a field may have several types, pydantic names the one it tried last in the path.
    path = ".".join(str(part) for part in problem["loc"] if part not in ALTERNATIVES)
    if problem["type"] == "missing":
        return BadRequest(f"missing {path}", param=path)
    known = PROBLEMS.get(problem["type"])
    what = (
        known.format(**problem.get("ctx", {})) if known else problem["msg"][:1].lower() + problem["msg"][1:]
    )
    return BadRequest(f"{path} {what}", param=path)
