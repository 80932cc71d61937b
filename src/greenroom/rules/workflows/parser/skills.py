"""Reads SKILL.md, the open format of agents' skills: front matter with name and description, then the text."""

from greenroom.rules.workflows.definition import SkillText
from greenroom.rules.workflows.parser.marked_values import BadText, MarkedMap, read_marked

FENCE = "---"


def read_skill(text: str) -> SkillText:
    """The skill in a text. A front matter that cannot be read belongs to the text: agents read it too."""
    lines = text.lstrip("\ufeff").splitlines()
    if lines[:1] == [FENCE] and FENCE in lines[1:]:
        end = lines.index(FENCE, 1)
        try:
            front = read_marked("\n".join(lines[1:end]))
        except BadText:
            front = None
        if isinstance(front, MarkedMap):
            name, description = front.get("name"), front.get("description")
            return SkillText(
                name=name if isinstance(name, str) else "",
                description=description if isinstance(description, str) else "",
                text="\n".join(lines[end + 1 :]).strip(),
            )
    return SkillText(text=text.strip())
