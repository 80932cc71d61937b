"""Who may do what: principals, their credentials and rights."""
