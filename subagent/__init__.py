"""Banyan inside larger agent systems: as a tool, a subagent, a retriever, a remote graph and an MCP server."""
