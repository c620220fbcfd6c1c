"""Questions, builds and conversations that the server runs."""
