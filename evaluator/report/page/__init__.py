"""report.html: what people look at after a run, in one file that needs no network, no server and no other file.

    facts        what the manifest says about the cases
    suites       per protocol: the tables and the figures behind its charts
    correlation  Spearman between metrics
    answers      how often a judge answered, and how surely
    cases        the list of cases, and what is told of each
    questions    the ledger: question, evidence, probabilities
    clips        frames, wave form and sampled moments of a clip, decoded only on request
    pictures     pictures in the page, within a budget
    assets       style, scripts, the chart library, and the policy that lets nothing else in
    writer       all of the above -> report.html, report.csv, report.md

Tables are plain HTML made here, so that they are there without a script, for a screen reader and on paper. Sorting,
filtering and the page of one case are small scripts of ours (`web/`), which make text nodes only and never markup.

Charts are drawn by plotly.js, out of the `plotly` package of the registry: well kept, MIT, pinned by digest like every
other dependency, whole offline, and it has box plots, radar charts and heat maps. Its 4.8 MB travel compressed (2 MB)
and are unpacked by the browser when the first chart comes into view: a phone that only reads tables does not pay for
it. Drawn in the browser, charts cost the run nothing, follow the filters and the colours of the page, and a point leads
to its case. What was not taken: matplotlib's SVG costs a second per run and cannot follow a filter; ECharts is smaller,
but no registry package that we could pin carries it; Bokeh brings pandas and Tornado.

Jinja2 escapes everything; data travel as JSON that cannot close its element. Knows finished runs only.
"""

from __future__ import annotations

PAGE, TABLE, TEXT = "report.html", "report.csv", "report.md"
"""What is written into the folder of the run."""
