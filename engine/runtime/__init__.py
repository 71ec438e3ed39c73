"""The only door to llama.cpp: typed wrappers, and errors in place of aborts."""
