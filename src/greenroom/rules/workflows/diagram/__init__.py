"""Draws workflows, as text for other programs (Mermaid, DOT) and as SVG."""

from greenroom.rules.workflows.diagram.dot import to_dot
from greenroom.rules.workflows.diagram.mermaid import to_mermaid
from greenroom.rules.workflows.diagram.svg import to_svg

FORMATS = {"mermaid": to_mermaid, "dot": to_dot, "svg": to_svg}

__all__ = ["FORMATS", "to_dot", "to_mermaid", "to_svg"]
