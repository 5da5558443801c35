"""One small file per way to write tool calls: the raw form, and the table that reads it. Data only."""
