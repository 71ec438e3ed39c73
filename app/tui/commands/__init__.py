"""What a person can order: commands that begin with a slash, and keys."""
