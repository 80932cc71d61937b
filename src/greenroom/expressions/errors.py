"""The two errors of an expression: it is malformed, or it fails on the values that it gets."""

from greenroom.sentences import Words, build_sentence


class BadExpression(ValueError):
    """An expression that no value can make right. `column` counts characters from 1; 0 without one place."""

    def __init__(self, problem: Words, remedy: Words = "", column: int = 0) -> None:
        self.problem = problem
        self.remedy = remedy
        """What to write instead; empty if nobody knows."""
        self.column = column
        self.said = build_sentence("expression.bad", problem=problem, remedy=remedy) if remedy else problem
        super().__init__(self.message)

    @property
    def message(self) -> str:
        """The sentence in English."""
        return str(self.said)


class ExpressionFailed(Exception):
    """Over these values it has no answer. This is never the same as false."""

    def __init__(self, said: Words) -> None:
        super().__init__(str(said))
        self.said = said

    @property
    def message(self) -> str:
        """The sentence in English."""
        return str(self.said)

    def add_expression(self, text: str) -> "ExpressionFailed":
        """The same failure, with the expression that has it."""
        return ExpressionFailed(build_sentence("expression.in", text=text, problem=self.said))
