"""Federated training: the only room that imports TensorFlow, and only in `tensorflow_trainer`.

`recipes` says what is trained, `data` splits the rows, `tensorflow_trainer` holds the networks and the
compiled steps a client runs, `method` names the moments of a round and the methods, `training` runs the rounds and
`checkpoints` keeps them. A further method is one more file beside `fedavg`, and its line in `method`; those of other people are in `research/trained`, with the
gradients that they ask for.
"""
