"""What is said of jobs, from the document to the end of a task."""
