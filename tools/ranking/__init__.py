"""From evidence to ranked chunks."""
