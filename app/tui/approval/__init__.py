"""Asking the person before the model does something."""
