"""Reads SKILL.md, the open format of agents' skills: a front matter with name and description, then the text itself."""

from greenroom.nouns.workflows.definition import Skill
from greenroom.nouns.workflows.reading.marked import BadText, Map, read_marked

FENCE = "---"


def read_skill(text: str) -> Skill:
    """The skill in a text. A front matter that cannot be read belongs to the text: agents read it too."""
    lines = text.lstrip("\ufeff").splitlines()
    if lines[:1] == [FENCE] and FENCE in lines[1:]:
        end = lines.index(FENCE, 1)
        try:
            front = read_marked("\n".join(lines[1:end]))
        except BadText:
            front = None
        if isinstance(front, Map):
            name, description = front.get("name"), front.get("description")
            return Skill(
                name=name if isinstance(name, str) else "",
                description=description if isinstance(description, str) else "",
                text="\n".join(lines[end + 1 :]).strip(),
            )
    return Skill(text=text.strip())
