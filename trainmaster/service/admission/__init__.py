"""What is refused although the document is well formed: rights, limits, places, shapes that never fit."""
