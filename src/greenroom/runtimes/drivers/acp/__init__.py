"""Any agent that speaks the Agent Client Protocol, by manifest alone."""
