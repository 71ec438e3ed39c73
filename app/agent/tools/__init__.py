"""The tools that the model may call, one a file."""
