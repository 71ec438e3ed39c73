"""Several attempts at one task, each in a copy of the files, and the best of them."""
