"""One small file per model format: its special spellings and its plain chat template. Data only."""
