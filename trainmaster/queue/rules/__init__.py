"""What else decides a pass: who may go ahead, who gives way, what can stop the search, what never fits."""
