"""Files that the model reads and changes: where they may lie, what it has seen of them, and how its
edits find their place."""
