"""Strings: lengths, patterns, formats."""

from ds4.constrain.schema.formats import format_leaf
from ds4.constrain.schema.forms import Impossible, Leaf, contradiction, strictest
from ds4.constrain.schema.library import is_empty, refusal
from ds4.constrain.schema.nodes import Node, Nodes
from ds4.constrain.schema.report import Report


def text_form(alternative: tuple[Node, ...], nodes: Nodes, report: Report) -> Leaf:
    """Raises Impossible."""
    low = strictest(alternative, "minLength", largest=True)
    high = strictest(alternative, "maxLength", largest=False)
    if low and high and low.value > high.value:
        raise contradiction(low, high)
    lengths: dict[str, object] = {}
    if low and low.value:
        lengths["minLength"] = int(low.value)
    if high:
        lengths["maxLength"] = int(high.value)
    said = {
        (keyword, value): node
        for node in alternative
        for keyword in ("pattern", "format")
        if isinstance(value := node.keywords.get(keyword), str)
    }
    leaves = [
        format_leaf(value) if keyword == "format" else {"type": "string", "pattern": nodes.regex(value)}
        for keyword, value in said
    ]
    if not leaves or any("maxLength" in leaf for leaf in leaves):
        leaves.append({"type": "string"})
    leaves[-1] |= lengths
    leaves = [leaf for leaf in leaves if len(leaf) > 1] or [{"type": "string"}]
    schema = leaves[0] if len(leaves) == 1 else {"allOf": leaves}
    if not said or len(lengths) + len(said) < 2:
        return Leaf(schema)
    (keyword, _), node = next(iter(said.items()))
    refused = refusal(schema)
    if refused and is_empty(refused):
        raise Impossible(
            node.place, keyword, f"no string has the {keyword} and all else", own=len(alternative) == 1
        )
    if refused:
        report.lacks(node.place, keyword, f"is not enforced by this server together with the rest: {refused}")
        return Leaf({"type": "string", **lengths})
    return Leaf(schema)
