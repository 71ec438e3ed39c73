"""``gemma-local batch``: a file of questions, answered several at once."""
