class SetupError(Exception):
    """One sentence for the user: what is missing and how to get it."""
