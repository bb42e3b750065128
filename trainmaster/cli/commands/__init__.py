"""Commands about jobs and what they make, and about people. One file per noun; heavy things are imported inside."""
