"""The transition lab: clips with known transitions and sound bridges, and how well they are found.

`plan` says which clips, `shots` and `library` are what they are made of, `picture` and `bridge` join two of each,
`write` makes a file, `measure` looks at it through the same decoding pass as a run does, `score` and `table` count.
Reached by `evaluator lab`; nothing that scores a clip imports it.
"""
