"""Who comes before whom: lines, fair shares, quotas, and the classes of alike requests."""
