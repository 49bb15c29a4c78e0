"""A PyTorch app over hospitals, made fair by two calls."""
