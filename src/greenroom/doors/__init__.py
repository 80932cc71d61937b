"""The doors: how the world reaches the hub. None of them knows another."""
