"""Folders of this machine: which of them jobs may see, how full they are, and which belong to the server alone."""
