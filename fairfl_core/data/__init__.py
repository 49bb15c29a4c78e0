"""What people bring and what is shipped: tables, counts, scores, experiments, datasets."""
