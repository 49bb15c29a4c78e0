"""Other people's post-processing, one file each, beside our program and on the same people.

A rival is fitted on `ScoredData` and answers people by chances, shape (people, labels).
"""
