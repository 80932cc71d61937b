"""What Greenroom ships for tests."""
