"""What a person sees: one file a page, reading top to bottom as the page does."""
