"""One small file per model format, and tables about reasoning, tools and markup. Data and pure functions."""
