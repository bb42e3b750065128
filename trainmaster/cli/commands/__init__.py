"""The commands, one file per noun; everything heavy is imported inside them."""
