"""What the server does unasked beside the control loop: sweeping, pushing metrics, keeping dates true."""
