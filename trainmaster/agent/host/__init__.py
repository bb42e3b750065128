"""What the kernel of this machine offers: processes, control groups, access lists, waiting."""
