"""What the four commands of this folder do, by the Python of their own environment."""
