"""Programs that nobody here wrote, driven against the server: `make clients`."""
