"""The table of keywords is whole."""

from jsonschema import Draft4Validator, Draft7Validator, Draft202012Validator  # type: ignore[import-untyped]

from ds4.constrain.schema.checks import FORMS
from ds4.constrain.schema.keywords import KEYWORDS, Status, named


def test_every_keyword_of_the_drafts_has_its_row() -> None:
    drafts = (Draft4Validator, Draft7Validator, Draft202012Validator)
    assert {keyword for draft in drafts for keyword in draft.VALIDATORS} <= KEYWORDS.keys()


def test_every_enforced_keyword_has_a_form() -> None:
    assert named(Status.ENFORCED) == tuple(sorted(FORMS))


def test_limits_are_only_told_of_what_is_enforced() -> None:
    assert all(keyword.status is Status.ENFORCED for keyword in KEYWORDS.values() if keyword.limit)
