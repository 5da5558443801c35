"""What is known about the rows in memory, and what of it a prompt can reuse. Pure; no engine, no I/O."""
