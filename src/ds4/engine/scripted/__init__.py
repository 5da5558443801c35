"""An engine whose answers come from a Python file: no model, a real vocabulary, state and cost."""
