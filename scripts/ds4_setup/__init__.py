"""Sets up the project's virtual environment, with llama.cpp built for this host."""
