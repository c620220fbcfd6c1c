"""Access to the server: keys, hosts, rate limits, LangGraph's own routes."""
