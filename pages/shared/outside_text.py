"""Text from outside, made safe: the core's, under the name that pages know."""

from fairfl_core._io.outside_text import JOINER, Target, figure_text, only_text, plain

__all__ = ["JOINER", "Target", "figure_text", "only_text", "plain"]
