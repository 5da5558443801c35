"""Constrained answers: a `Constraint` becomes a grammar, a grammar becomes a `Guide`."""
