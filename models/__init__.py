"""The models behind Banyan: embeddings, the chat model, and the Reasoner interface over both."""
