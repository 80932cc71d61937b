"""Notifications: what is sent to which channel, and with which keys."""
