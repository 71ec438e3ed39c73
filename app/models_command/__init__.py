"""``gemma-local models``: which models there are, and how to get, keep and move them."""
