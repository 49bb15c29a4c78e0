"""What pages share: controls, results, figures, words, parts, report."""
