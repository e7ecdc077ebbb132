"""What benchmarks share: data, tables, other tools, a terminal."""
