"""Notifications: what people hear of, who hears of it, and how it goes out."""
