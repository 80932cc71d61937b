"""From what people write to a definition: YAML and JSON, other programs' forms, skills."""
