"""The Clients page."""
