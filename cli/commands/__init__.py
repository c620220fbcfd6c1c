"""The commands, in one module for each group of related ones; a module is imported when its command is chosen."""
