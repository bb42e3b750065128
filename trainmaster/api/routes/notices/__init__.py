"""Notifications and webhooks."""
