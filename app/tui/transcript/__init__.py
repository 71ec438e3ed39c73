"""The transcript: one widget that holds a day of conversation, and the items that it draws."""
