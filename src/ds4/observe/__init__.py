"""What the server tells its owner: log lines, progress, later traces and metrics."""
