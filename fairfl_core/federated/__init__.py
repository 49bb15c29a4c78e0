"""Federated training: the only room that imports TensorFlow, and only in `models` and `work`.

`recipes` says what is trained, `data` splits the rows, `models` makes scores, `work` is the
compiled step a client runs, `method` and `fedavg` say what clients and server do in a round,
`training` runs the rounds. A further method is one more file beside `fedavg`.
"""
