"""The yard: what builds, tries, tests and checks Tallystick. Standard library only; nothing here is installed.

`jobs.py` is the table behind `dev.py`; `groups.py` says which tests there are and what each group needs of a machine.
"""
