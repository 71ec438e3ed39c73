"""Does drafting as far as it pays hold what it promises, at true costs?

Real passes over files of real shape, with texts and acceptance that are known in advance. See
``python -m tests.bench.pace --help``.
"""
