"""The commands, a module for one or some that belong together; imported when one is chosen."""
