"""The Scenarios page."""
