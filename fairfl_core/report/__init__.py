"""Options for people to decide between: kept, compared, noted on, and reported on.

Review (a file) -> Option -> Result (solved and judged) -> Board (what it shows) -> HTML, PDF
"""
