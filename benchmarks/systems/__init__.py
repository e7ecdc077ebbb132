"""Whether the systems of the papers do what the papers say."""
