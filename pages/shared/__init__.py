"""What the pages share: state, results, widgets, charts, theme."""
