"""The two errors of an expression: it is malformed, or it fails on the values that it gets."""


class BadExpression(ValueError):
    """It cannot be right whatever the values are. `column` counts characters from 1; 0 when there is no one place."""

    def __init__(self, message: str, column: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.column = column


class ExpressionFailed(Exception):
    """Over these values it has no answer. This is never the same as false."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
