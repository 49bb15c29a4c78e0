"""After the decision: watch whether limits go on being kept, and plan which people to see next."""
