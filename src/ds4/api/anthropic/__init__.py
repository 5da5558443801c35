"""Messages, as Anthropic words them."""
