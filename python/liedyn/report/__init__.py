"""Reports: pages that show a computation, its figures and its numbers. `python -m liedyn.report demo DIRECTORY`."""
