"""Replies of a model about the people of `small_base`, sent to the listener by the character."""

import json

from banyan.models.llm.endpoint import Reply
from banyan.models.reasoner import ReasonerError, text_listener

BORN = "She was born in Ulm, Germany, on 3 May 1801."
WAS = "Ada Byron was a mathematician."


def claim(text, words=None, item=1, unstated=""):
    return {"text": text, "quotes": [{"item": item, "words": words or text}], "unstated": unstated}


def reply(*claims, **changes):
    """A reply that answers."""
    return json.dumps({"thought": "", "lookups": [], "answerable": True, "claims": list(claims),
                       "short": "", "confidence": 0.9, **changes})


class StreamingEndpoint:
    """Gives its replies in order; one that ends in "fails" is lost at its end."""

    def __init__(self, *replies):
        self.replies = list(replies)

    async def send(self, messages, json_schema, permit):
        permit()
        said, listener = self.replies.pop(0), text_listener()
        if listener is not None:
            for end in range(len(said) + 1):
                await listener(said[:end])
        if said.endswith("fails"):
            raise ReasonerError("the endpoint failed")
        return Reply(said, 10, 5)
