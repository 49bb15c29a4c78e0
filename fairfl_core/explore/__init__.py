"""The Explore screen: its numbers, sentences and charts, for the page and for one HTML file."""
