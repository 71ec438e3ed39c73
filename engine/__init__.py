"""Tokens: processes, contexts, drafting, verifying, sampling, caching, measuring."""
