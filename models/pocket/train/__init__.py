"""How the pocket pair is made: corpus, vocabulary, target, drafter, files. Not part of the wheel.

``python -m gemma_local.models.pocket.train.make`` goes through all of it; it needs the extra
``pocket`` (PyTorch).
"""
