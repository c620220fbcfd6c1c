"""Names, dates and quantities in texts: what is found, and of which kind it is."""
