"""The server: REST, the web page, and what others mount beside them."""
