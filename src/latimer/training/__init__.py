"""Training with Lightning: the task, its schedule, its loss, and all that watches a run."""
