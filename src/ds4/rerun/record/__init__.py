"""Wrappers around ports that note what passes."""
