"""What people keep under a name for jobs to use: templates."""
