"""Python environments of images: what they are made of, how they are made, kept and removed again."""
