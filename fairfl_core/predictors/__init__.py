"""The lottery that answers people, to and from a file."""
