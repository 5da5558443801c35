"""Arrays: a beginning, item by item, and the rest."""

from ds4.constrain.schema.forms import ArrayForm, contradiction, strictest
from ds4.constrain.schema.gather import Alternative
from ds4.constrain.schema.inside import item_states, prefix_of


def array_form(alternative: Alternative) -> ArrayForm:
    """Raises Impossible."""
    low = strictest(alternative, "minItems", largest=True)
    high = strictest(alternative, "maxItems", largest=False)
    if low and high and low.value > high.value:
        raise contradiction(low, high)
    most = int(high.value) if high else None
    length = max((len(prefix_of(node)) for node in alternative), default=0)
    if most is not None:
        length = min(length, most)
    *prefix, rest = item_states(alternative, length + 1)
    return ArrayForm(
        prefix=tuple(prefix),
        items=rest,
        least=int(low.value) if low else 0,
        most=most,
    )
