"""Several names, one entity."""
