"""The vocabulary every other package speaks: frozen values and protocols. No I/O, no threads."""
