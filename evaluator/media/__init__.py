"""Reading media: facts, samplings, views, sound. One in-order pass per file serves everybody.

Knows nothing about models or metrics.
"""

VERSION = 2
"""Raised when the same view of the same bytes can come out different."""
