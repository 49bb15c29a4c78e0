"""What a visitor has set and brought along."""
