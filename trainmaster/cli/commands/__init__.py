"""Commands about jobs and what they make. One file per noun; heavy things are imported inside."""
