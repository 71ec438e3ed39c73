"""Pictures of every screen, compared with those of the last time.

They are no part of the ordinary tests: they change with every change of the looks. ``make
snapshots`` compares them, ``UPDATE=1 make snapshots`` draws them anew; then look at what changed.
"""
