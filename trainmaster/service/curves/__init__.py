"""Training metrics: collected from their sources, bounded in memory, shown as curves and as progress."""
