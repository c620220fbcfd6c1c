"""Who may ask: keys, hosts, rates, LangGraph's own routes."""
