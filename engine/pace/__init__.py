"""How far to draft: exactly as far as it pays, priced by what was measured here.

A draft is worth the tokens that will be kept of it, each at the time that a token takes at the
best speed there is; it costs the time to make it and the time to check it. Both are learned while
decoding: chances in `chances` and `calibration`, seconds in `cost`. `prospect` weighs them for one
sequence, `pace` for a step of all; a `decision` holds until an `outcome` is news. `watch` compares
what came of it with plain decoding, and `knowledge` keeps what was learned for the next run.
"""
