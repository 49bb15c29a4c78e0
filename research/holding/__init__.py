"""Do limits hold on unseen people? The evidence, and the document that tells it.

`coverage` draws samples of a population whose true gaps are known; `held_out` asks real test
people; `document` writes docs/holding.md from both.
"""
