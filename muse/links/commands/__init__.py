"""The commands of links between words."""
