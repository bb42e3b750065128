"""Which entries of a sweep are not worth their resources any more."""
