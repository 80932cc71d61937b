"""How each vendor's API reports a limit: a request too long, too many requests, too little room."""

from greenroom.testing.fake_llm.answer import Fail
from greenroom.testing.fake_llm.request import Json

Error = tuple[int, Json]
_GEMINI_STATES = {400: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}
_ANTHROPIC_TYPES = {429: "rate_limit_error", 529: "overloaded_error"}
_WORDS = {429: "fake rate limit reached", 503: "the fake model is overloaded", 529: "the fake model is overloaded"}
_TOO_LONG = {
    "anthropic": "prompt is too long: 210000 tokens > 200000 maximum",
    "gemini": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "openai_chat": "This model's maximum context length is 128000 tokens. Your messages resulted in 130000 tokens.",
    "openai_responses": "Your input exceeds the context window of this model. Please adjust your input and try again.",
}
TOO_LONG = "context_length_exceeded"
"""OpenAI's code for it."""


def make_error(dialect: str, said: Fail) -> Error:
    """The status and the body of an error in the words of a vendor."""
    words = _TOO_LONG[dialect] if said.is_too_long else _WORDS.get(said.status, "fake error")
    match dialect:
        case "anthropic":
            kind = "invalid_request_error" if said.is_too_long else _ANTHROPIC_TYPES.get(said.status, "api_error")
            return said.status, {"type": "error", "error": {"type": kind, "message": words}}
        case "gemini":
            state = _GEMINI_STATES.get(said.status, "UNKNOWN")
            return said.status, {"error": {"code": said.status, "message": words, "status": state}}
        case _:
            code = TOO_LONG if said.is_too_long else "rate_limit_exceeded" if said.status == 429 else None
            return said.status, {"error": {"message": words, "type": "invalid_request_error", "code": code}}
