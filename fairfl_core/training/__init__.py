"""Federated training: the only room that imports TensorFlow, and only in `models` and `tensorflow_trainer`.

`recipes` says what is trained, `data` splits the rows, `models` makes scores, `tensorflow_trainer` holds the
compiled steps a client runs, `method` names the moments of a round and `methods` the methods,
`training` runs the rounds and `checkpoints` keeps them. A further method is one more file beside
`fedavg`, and its line in `methods`; those of other people are in `research/trained`, with the
gradients that they ask for.
"""
