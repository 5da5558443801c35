"""How many properties an object may have: what of it the library can count.

It counts the names that are not declared as often as they are written, and JSON counts them once. So it can
demand one of them, and not two.
"""

from ds4.constrain.schema.forms import ObjectForm
from ds4.constrain.schema.report import Report


def counts(form: ObjectForm, members: int, required: int, is_open: bool, report: Report) -> dict[str, object]:
    """`minProperties` and `maxProperties` as far as they are needed.

    `members` can be there, `required` must; `is_open`: others can be there.
    """
    least = form.least if form.least > required else None
    most = form.most if form.most is not None and (is_open or form.most < members) else None
    if members > required:
        return _with_optional(form, least, most, required, is_open, report)
    if least is not None and least - required > 1:
        _lacks(form, "minProperties", report)
        least = None
    return _said(least, most)


def _with_optional(
    form: ObjectForm, least: int | None, most: int | None, required: int, is_open: bool, report: Report
) -> dict[str, object]:
    """At least one, at most one or exactly one of those that may be missing: all that the library knows."""
    if most is not None and (is_open or most - required != 1):
        _lacks(form, "maxProperties", report)
        most = None
    if least is not None and (is_open or least - required != 1):
        _lacks(form, "minProperties", report)
        least = None
    return _said(least, most)


def _said(least: int | None, most: int | None) -> dict[str, object]:
    said = {"minProperties": least, "maxProperties": most}
    return {keyword: count for keyword, count in said.items() if count is not None}


def _lacks(form: ObjectForm, keyword: str, report: Report) -> None:
    if form.at:
        report.lacks(form.at, keyword, "of an object with these properties is not enforced by this server")
