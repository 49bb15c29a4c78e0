"""Made-up hospitals for the lesson."""
