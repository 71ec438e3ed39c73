"""Text as lines of a given width: Markdown, code, diffs and plain text, ready to be painted.

Nothing here knows a widget; all of it can be tested with strings.
"""
