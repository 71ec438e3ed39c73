"""The files of the folder that a person works in: which there are, and what is in them."""
