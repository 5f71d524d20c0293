"""The board: the tasks of a feature, who works on which, and what can be worked on next."""
