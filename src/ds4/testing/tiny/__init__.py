"""Tiny random models: real files of every memory class, made in seconds, for tests of the real engine.

`tiny_model` is the whole public face. The text a tiny model writes is noise: assert on structure,
token ids, row counts and logits, never on sense.
"""

from ds4.testing.tiny.models import TINY_ARCHS, MissingExtra, tiny_model

__all__ = ["TINY_ARCHS", "MissingExtra", "tiny_model"]
