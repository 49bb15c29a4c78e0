"""The least accuracy cost of local and global fairness in federated learning.

The way of the data, one direction only::

    dataset -> federated training -> scores (an experiment) -> counts -> program
    -> solution -> predictor -> evaluation -> figure, sentence, file
"""
