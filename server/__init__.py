"""The server: REST, the web page, and the app that LangGraph's server mounts."""
