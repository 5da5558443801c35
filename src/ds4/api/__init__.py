"""HTTP to core and back. The only package that knows wire formats."""
