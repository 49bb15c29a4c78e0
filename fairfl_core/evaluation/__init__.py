"""What a predictor does on given people, over one seed or several."""
