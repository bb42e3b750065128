"""Which jobs are meant: filters, and lists of jobs that are saved under a name; and jobs side by side."""
