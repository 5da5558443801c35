"""Sampled pieces in, events out. Sans-IO: no engine, no clock, no wire format."""
