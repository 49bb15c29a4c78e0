"""What fair means: notions with their rates, and how sure a gap is."""
