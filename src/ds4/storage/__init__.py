"""What every file that outlives the process needs, whatever is in it."""
