"""Makes a prompt safe for the runtime that reads it: no word of it acts as a command, a mention or a key.

Most of a prompt is the words of others: messages, topics, outputs of other steps, mail, webhooks. Agent CLIs act on
some words by themselves, before any model sees them: `@path` reads a file, `/name` runs a command, `!` runs a shell,
`ultraplan` anywhere starts a session in the cloud.
`DriverInfo.quoting` says, for each driver, which words those are. Every driver passes what it sends through
`PromptQuoting.quote`. What a person types at an agent's own terminal does not come this way.
"""

import re
from collections.abc import Mapping

import msgspec

LEAD = "Prompt: "
"""Goes before a text whose first character a runtime could take for a sign of its own."""
_PLAIN_STARTS = "\"'“”‘’«»([{*_-「『（《【"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_AFTER = r"(?<![\w.+-])"
_MENTION = re.compile(rf'{_AFTER}@(?=[/~"\\]|\.\.?[/\\]|agent-|[^\s:]{{1,200}}:\S)')
"""The name of an MCP server is short. Without a bound, many `@` in one word would each be read to its end."""
_PATH = re.compile(rf"{_AFTER}@(?=\S)")
_SKILL = re.compile(r"\$(?!\d+(?![\w:-]))([A-Za-z0-9_:-]+)")
_LINK = re.compile(r"\[(?=[@$])")
_COMMAND = re.compile(r"(?<![\w/.~:<])/(?=[A-Za-z][\w:-]*(?![\w:/-]|\.\w))")
_KEYWORD = re.compile(r"(?i)(?<=ultra)(?=code|plan|review|think)")
_IMAGE_LINE = re.compile(
    r"""(?im)^(?=(?:[^\S\n]|["'])*(?:[/\\]|[a-z]:\\))(?=[^\n]*\.\\*(?:p\\*n\\*g|j\\*p|g\\*i\\*f|w\\*e\\*b\\*p))"""
)
"""A line that begins as a path does and has the ending of an image, with backslashes anywhere."""
_LINE_END = re.compile(r"\r\n?|[\u2028\u2029]")
_UNSEEN = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff"
    r"\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_JOINERS = re.compile(r"(?<![^\x00-\x7f])[\u200c\u200d\ufe00-\ufe0f]+")
"""What joins letters of some scripts and parts of emoji has nothing to join behind a letter of ASCII."""


class PromptQuoting(msgspec.Struct, frozen=True, kw_only=True):
    """What one runtime makes of the text that it is given, and how that is prevented."""

    env: Mapping[str, str] = {}
    """Settings that switch such a feature off, where the runtime has them."""
    is_data: bool = False
    """The text has no special forms, and may be data that must not change."""
    starts: bool = True
    """The first character can make it a command: `/`, `!`, `#`, `$`, `&`, `?`. LEAD goes before it."""
    mentions: bool = False
    """`@` names paths outside, resources of MCP servers and agents. A space goes behind it."""
    all_mentions: bool = False
    """`@` names any file, and cannot be switched off."""
    skills: bool = False
    """`$name` anywhere is a skill. It becomes `${name}`."""
    commands: bool = False
    """`/name` anywhere is a command. A space goes behind the slash."""
    keywords: bool = False
    """`ultracode` and the like anywhere start something. A hyphen goes into them."""
    pastes: bool = False
    """It is a paste: a lone word such as `exit` is a command, and a line that is the path of an image is replaced by
    the image. LEAD goes before both."""

    def quote(self, text: str, *, by_line: bool = False) -> str:
        """The same words without a meaning for the runtime. `by_line`: each line is read as a prompt of its own."""
        if self.is_data:
            return text
        text = _CONTROL.sub(_show, _LINE_END.sub("\n", text))
        text = _JOINERS.sub("", _UNSEEN.sub("", text))  # a runtime that removes them would bring a sign to light
        if self.all_mentions:
            text = _PATH.sub("@ ", text)
        elif self.mentions:
            text = _MENTION.sub("@ ", text)
        if self.skills:
            text = _LINK.sub("[ ", _SKILL.sub(r"${\1}", text))
        if self.commands:
            text = _COMMAND.sub("/ ", text)
        if self.keywords:
            text = _KEYWORD.sub("-", text)
        if self.pastes:
            text = _IMAGE_LINE.sub(LEAD, text)
            is_path = self.all_mentions or len(text.split()) == 1  # some CLIs take a paste of several paths for files
            text = LEAD + text if is_path and not text.startswith(LEAD) else text
        if not self.starts:
            return text
        if by_line:
            return "\n".join(_add_lead(line.replace("\t", "    ")) for line in text.split("\n"))
        return _add_lead(text)


def _show(control: re.Match[str]) -> str:
    """The picture of a control character, which no terminal acts on."""
    code = ord(control[0])
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"


def _add_lead(text: str) -> str:
    is_plain = not text or text[0].isalnum() or text[0] in _PLAIN_STARTS
    return text if is_plain else LEAD + text


DATA = PromptQuoting(is_data=True, starts=False)
