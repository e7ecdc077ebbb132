"""Whether it holds under attack, and how it looks."""
