"""The typed schema of a run and of an evaluation, and how what was written is checked against it.

Defaults, ranges and explanations stand in the YAML files of ``conf/``; the sections here have no
defaults, so that there is one place to look a value up.
"""
