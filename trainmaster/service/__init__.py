"""Floor 3: the only place where the parts meet. Use cases, the control loop, and what makes a platform of them."""
