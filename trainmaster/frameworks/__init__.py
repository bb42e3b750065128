"""Floor 1: what a framework needs so that the tasks of a gang find each other. One file per framework."""
