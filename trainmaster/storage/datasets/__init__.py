"""Data sets on the disk: what somebody wants to upload, what is on its way, and the folders of versions."""
