"""The rules of the product: one folder per noun, with its model, decisions and projections. Pure code only."""
