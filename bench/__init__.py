"""Measurements. Figures are ratios taken in one run, never assertions."""
