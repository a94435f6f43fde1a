"""How fast latimer is, and how much memory it takes: ``make bench``, ``make bench-growth``.

Every figure is measured in a child process of its own, in turns with those that it is compared to.
docs/performance.md tells how, and what came out.
"""
