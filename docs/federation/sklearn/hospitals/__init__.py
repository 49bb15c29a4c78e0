"""A scikit-learn app over hospitals, made fair by two calls."""
