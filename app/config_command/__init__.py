"""``gemma-local config``: write, show and describe the settings."""
