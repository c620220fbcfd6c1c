"""The server: REST, the web page, and what LangGraph's server mounts."""
