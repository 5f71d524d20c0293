"""All knowledge of one client or agent lies in one folder of this package."""
