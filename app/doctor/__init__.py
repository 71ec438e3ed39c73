"""``gemma-local doctor``: what this machine has, what runs on it, and what is in the way."""
