"""Stand-ins for tests. May import every package; no package under `ds4` imports it."""
