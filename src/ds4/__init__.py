"""ds4: a local LLM server whose KV cache is a first-class citizen, in memory and on disk."""

__version__ = "0.1.0"
