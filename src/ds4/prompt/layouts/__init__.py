"""The built-in ways to write a prompt, for model files without a template of their own."""
