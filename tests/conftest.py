"""Shared by all tests."""

from hypothesis import settings

# Time limits per example say more about the machine than about the code.
settings.register_profile("ds4", deadline=None)
settings.load_profile("ds4")
