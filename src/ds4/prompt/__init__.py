"""A conversation, or a raw prompt, becomes a PromptPlan. No engine, no wire format."""
