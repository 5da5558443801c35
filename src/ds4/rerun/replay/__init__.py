"""A recorded world behind the ports, and the server once more in it."""
