"""What administrators decided about the machines and who may use them, in memory."""
