"""What is said of a link."""

NO_SUCH_SETTING = "nothing: there is no setting of this name"
SOMETHING = "a value"
