"""Why an agent cannot be started, as a sentence for people."""

from greenroom.sentences import Words, build_sentence


class LaunchError(ValueError):
    """An agent cannot be started; the sentence says what to do about it."""

    def __init__(self, key: str, /, **params: object) -> None:
        self.said = build_sentence(key, **params)
        super().__init__(str(self.said))


def build_early_end(program: str, words: str) -> LaunchError:
    """A program's process ended before a session was there; the words are the last that it wrote."""
    if words:
        return LaunchError("launch.ended_early_saying", program=program, words=words)
    return LaunchError("launch.ended_early", program=program)


def explain_failure(error: Exception) -> Words:
    """What an error says; one that nobody expected says of which type it is, too."""
    if isinstance(error, LaunchError):
        return error.said
    return str(error) if isinstance(error, OSError | ValueError) else repr(error)
