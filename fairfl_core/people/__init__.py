"""Who is counted: tables of counts, people with scores, experiments."""
