"""The trace: everything needed to understand a run and to repeat it, one JSON object a line.

docs/trace.md describes the lines.
"""
