"""The only places that touch the disk durably, run git or start a program."""
