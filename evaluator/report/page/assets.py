"""Style, scripts and the chart library of the page, and the policy under which a browser runs them and nothing else.

Every script is named by its SHA-256; pictures come from the page itself; nothing may be fetched, framed, submitted or
evaluated. The chart library stands in the page compressed and becomes a script only if a chart is looked at: it is
admitted by the digest of its plain text.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.metadata import distribution
from pathlib import Path

WEB = resources.files("evaluator.report.page") / "web"
SCRIPTS = ("dom.js", "tables.js", "list.js", "clip.js", "questions.js", "case.js", "charts.js", "page.js")
"""Joined in this order."""

PLOTLY = "plotly/package_data/plotly.min.js"


@dataclass(frozen=True, slots=True)
class Assets:
    """Text of the page's own code, and the chart library as zlib data in base64."""

    style: str
    script: str
    plotly: str
    policy: str


@cache
def assets() -> Assets:
    """Read once per process."""
    style = (WEB / "page.css").read_text("utf-8")
    script = '"use strict";\n' + "\n".join((WEB / name).read_text("utf-8") for name in SCRIPTS)
    library = Path(str(distribution("plotly").locate_file(PLOTLY))).read_bytes()  # importing plotly would take longer
    return Assets(style, script, base64.b64encode(zlib.compress(library, 9)).decode(), _policy(script, library))


def _policy(script: str, library: bytes) -> str:
    """The content security policy. Style may stand anywhere: the library brings its own, and it can fetch nothing."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(script.encode())} {_hash(library)}",
            "style-src 'unsafe-inline'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _hash(data: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(data).digest()).decode()}'"
