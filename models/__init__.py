"""Files: what a Gemma 4 is, which pairs exist, where they lie, what they need, how they talk."""
