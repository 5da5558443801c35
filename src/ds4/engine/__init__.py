"""What can run tokens step by step: llama.cpp, or a script."""
