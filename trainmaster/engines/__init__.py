"""Floor 2: what runs attempts. What every engine is, which kinds there are, and the two that come with us."""
