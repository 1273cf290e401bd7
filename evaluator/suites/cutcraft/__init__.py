"""CutCraft: does a multi-shot generator do as an editor says? (arXiv 2609.08275)

What of it can be measured on pictures and sound alone: transitions, sound bridges, rhythm, motion. Pure functions on
arrays; the metrics and questions that are made of them come on top.
"""
