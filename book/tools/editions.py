"""The two editions to take away: their names, which the intro links to, and what is not in them."""

from stages import SITE

ZIP = SITE / "positional-encoding-offline.zip"
PDF = SITE / "positional-encoding.pdf"
EDITIONS = (ZIP, PDF)
CHECKS = "tests/editions"
