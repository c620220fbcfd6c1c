"""Retrieval: routes, index, spreading and fusion. Each route is also a LangChain tool."""
