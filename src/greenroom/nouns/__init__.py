"""The nouns of the product: one folder each, with its model, rules and projections."""
