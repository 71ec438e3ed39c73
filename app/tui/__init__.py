"""The screens: they show what happens and pass on what the person wants.

Nothing outside this package imports Textual.
"""
