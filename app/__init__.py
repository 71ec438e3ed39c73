"""What a person touches: command line, chat, settings."""
