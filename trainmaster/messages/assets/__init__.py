"""What is said of what jobs are made of: algorithms, data sets, images and templates."""
