"""How fast it is, in how much memory, on how many machines."""
