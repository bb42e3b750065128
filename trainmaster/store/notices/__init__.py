"""Notifications as rows: what happened, who was told of it, what is sent, settings, webhooks."""
