"""Word encoders: word vectors trained on parallel text, in tables or by a map, and their systems."""
