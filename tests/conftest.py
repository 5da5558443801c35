"""Shared by all tests. HYPOTHESIS_PROFILE=thorough tries ten times as many examples."""

import os

from hypothesis import settings

# Time limits per example say more about the machine than about the code.
settings.register_profile("quick", deadline=None, max_examples=20)
settings.register_profile("thorough", deadline=None, max_examples=200)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
