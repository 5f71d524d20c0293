"""The command line: one table of commands, one small file for each group."""
