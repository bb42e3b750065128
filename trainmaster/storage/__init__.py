"""Floor 2: files. Logs, samples, points, outputs, uploads, read and written in place; knows no jobs, no rights."""
