"""Floor 5: the command line. One file per noun; everything heavy is imported inside the commands."""
