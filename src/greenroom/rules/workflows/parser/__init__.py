"""From what people write to a definition: YAML and JSON, formats of other programs, skills."""
