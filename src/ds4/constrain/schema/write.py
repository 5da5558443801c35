"""The plan as a JSON schema for the library: one type per schema, alternatives under `anyOf`, nothing merged.

A state stands in `$defs` if it contains itself or is used more than once; leaves stand where they are.
"""

from collections import Counter
from collections.abc import Mapping

from ds4.constrain.schema.complement import all_but
from ds4.constrain.schema.document import Schema
from ds4.constrain.schema.forms import ArrayForm, Form, Leaf, ObjectForm, inner_states
from ds4.constrain.schema.gather import State
from ds4.constrain.schema.members import counts
from ds4.constrain.schema.plan import Plan
from ds4.constrain.schema.report import Report

_MAX_INLINE = 16
"""Levels, so that a long chain of definitions is not one deep schema."""


def written(plan: Plan, report: Report) -> Schema:
    return _Writer(plan, report).whole()


class _Writer:
    def __init__(self, plan: Plan, report: Report) -> None:
        self._plan = plan
        self._report = report
        self._names: dict[State, str] = {}
        self._waiting: list[State] = []
        uses = Counter({plan.root: 1})
        for forms in plan.forms.values():
            uses.update(inner for form in forms for inner in inner_states(form))
        self._uses = uses

    def whole(self) -> Schema:
        root = self._schema(self._plan.root, 0)
        definitions: dict[str, Schema] = {}
        while self._waiting:
            state = self._waiting.pop(0)
            definitions[self._names[state]] = self._alternatives(state, 0)
        if isinstance(root, bool) or not definitions:
            return root
        return {**root, "$defs": definitions}

    def _schema(self, state: State, depth: int) -> Schema:
        if not state:
            return True
        if not self._plan.has(state):
            return False
        is_leaf = all(isinstance(form, Leaf) for form in self._plan.forms[state])
        if is_leaf or (self._uses[state] == 1 and depth < _MAX_INLINE):
            return self._alternatives(state, depth)
        if state not in self._names:
            self._names[state] = str(len(self._names))
            self._waiting.append(state)
        return {"$ref": f"#/$defs/{self._names[state]}"}

    def _alternatives(self, state: State, depth: int) -> Schema:
        schemas = [self._form(form, depth + 1) for form in self._plan.forms[state]]
        return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}

    def _form(self, form: Form, depth: int) -> Schema:
        if isinstance(form, Leaf):
            return form.schema
        return self._array(form, depth) if isinstance(form, ArrayForm) else self._object(form, depth)

    def _array(self, form: ArrayForm, depth: int) -> Schema:
        prefix: list[Schema] = []
        for state in form.prefix:
            if not self._plan.has(state):
                break
            prefix.append(self._schema(state, depth))
        ends = len(prefix) < len(form.prefix) or not self._plan.has(form.items)
        most = len(prefix) if ends else form.most
        schema: dict[str, object] = {"type": "array"}
        schema |= {"prefixItems": prefix} if prefix else {}
        if ends:
            schema["items"] = False
        elif form.items:
            schema["items"] = self._schema(form.items, depth)
        schema |= {"minItems": form.least} if form.least else {}
        schema |= (
            {"maxItems": min(most, form.most if form.most is not None else most)} if most is not None else {}
        )
        return schema

    def _object(self, form: ObjectForm, depth: int) -> Schema:
        members = {one.name: self._schema(one.state, depth) for one in form.members}
        required = [one.name for one in form.members if one.required]
        schemas = {
            regex: self._schema(state, depth) for regex, state in form.patterns if self._plan.has(state)
        }
        patterns, others = self._rest(form, schemas, list(members), self._schema(form.others, depth))
        if others is False and not patterns:
            # Names that must not be there are like all others then.
            members = {name: inner for name, inner in members.items() if inner is not False}
        schema: dict[str, object] = {"type": "object"}
        schema |= {"properties": members} if members else {}
        schema |= {"required": required} if required else {}
        schema |= {"patternProperties": patterns} if patterns else {}
        schema |= {"additionalProperties": others} if others is not True else {}
        possible = sum(inner is not False for inner in members.values())
        is_open = bool(patterns) or others is not False
        return schema | counts(form, possible, len(required), is_open, self._report)

    def _rest(
        self, form: ObjectForm, patterns: Mapping[str, Schema], known: list[str], others: Schema
    ) -> tuple[Mapping[str, Schema], Schema]:
        """Names that are not declared: see `complement` for why they are a pattern."""
        if others is False:
            return patterns, False
        if form.patterns:
            why = "is enforced by this server only next to additionalProperties: false"
            self._lacks(form, "patternProperties", why)
        if form.patterns or not known:
            return patterns, others
        regex = all_but(known)
        if regex is None:
            why = "with names so long are enforced by this server only next to additionalProperties: false"
            self._lacks(form, "properties", why)
        return ({regex: others}, False) if regex else (patterns, others)

    def _lacks(self, form: ObjectForm, keyword: str, why: str) -> None:
        if form.at:
            self._report.lacks(form.at, keyword, why)
