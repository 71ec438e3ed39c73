"""Whole screens, and those that lie over them."""
