"""Chat completions and completions, as OpenAI words them."""
