"""The two state machines: `construction` turns documents into a knowledge base, `retrieval` answers."""
