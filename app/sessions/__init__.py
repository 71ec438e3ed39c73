"""Conversations on disk: what was shown is kept, found again, exported and deleted.

``SessionStore`` opens the file and finds sessions, ``Session`` is one that is being written to,
``Entry`` one message of it. ``gemma-local sessions`` is ``command``.
"""
