"""Noise on what a client sends, and what it does to the result."""
