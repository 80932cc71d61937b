"""What can be known to be wrong with a workflow before it is carried out."""
