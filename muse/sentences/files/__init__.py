"""Files of sentences with labels, and the folders of suites of tasks."""
