"""Access to the server: keys, tokens, hosts and rate limits."""
