"""Who may use the server: keys, hosts, rates, LangGraph's own routes."""
