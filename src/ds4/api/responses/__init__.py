"""OpenAI's Responses: items in, items out, and a memory of both."""
