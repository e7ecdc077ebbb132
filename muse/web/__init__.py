"""Web: the explorer of a space: a local API, and a page in the browser that uses it."""
