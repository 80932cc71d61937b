"""CEL expressions in workflows and policies, compiled once, over plain JSON values only.

The engine behind it (Google's own, `cel-expr-python`) is known in this package only.
"""

from greenroom.expressions.errors import BadExpression, ExpressionFailed
from greenroom.expressions.expression import RESERVED, Expression, Names, compile_expression
from greenroom.expressions.template import TextTemplate, compile_template

__all__ = [
    "RESERVED",
    "BadExpression",
    "Expression",
    "ExpressionFailed",
    "Names",
    "TextTemplate",
    "compile_expression",
    "compile_template",
]
