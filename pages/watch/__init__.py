"""Watch: are the limits still kept, month after month."""
