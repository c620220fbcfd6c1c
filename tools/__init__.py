"""The retrieval routes and what they share: index, linking, spreading, fusion. Each route is also a tool."""
