"""Do limits hold on unseen people? The evidence, and the document that tells it.

`coverage` draws samples of a population whose true gaps are known; `held_out` asks real test
people; `document` writes docs/holding.md from both.
"""

from research.holding.coverage import Coverage, coverage, draw_people
from research.holding.document import holding
from research.holding.settings import Setting

__all__ = ["Coverage", "Setting", "coverage", "draw_people", "holding"]
