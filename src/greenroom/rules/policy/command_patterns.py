"""Patterns of commands in rules, such as `git push **`, and whether a command or a part of one fits them."""

from greenroom.link.policy_facts.shell_nodes import Word
from greenroom.link.policy_facts.shell_parser import ParsedShell
from greenroom.link.policy_facts.unknown_programs import find_inner_words
from greenroom.rules.policy.globs import Glob

CommandPattern = tuple[list[Glob], bool]
"""The words of a command, and whether more may follow."""
_MOST_WORDS = 100
"""Of a program that is not known; each is looked at as the beginning of a command."""


def may_stand_inside(patterns: list[CommandPattern], shell: ParsedShell) -> bool:
    """Whether a command may be run by a program that is not known, from among its words."""
    for one in shell.commands:
        words = find_inner_words(one.program, one.words)
        if len(words) > _MOST_WORDS or any(_begins(words[place:], patterns) for place in range(len(words))):
            return True
    return False


def parse_command_pattern(text: str) -> CommandPattern:
    words = text.split()
    is_open = words[-1] == "**"
    return [Glob(word) for word in (words[:-1] if is_open else words)], is_open


def find_programs(commands: list[str]) -> frozenset[str]:
    """The programs that commands name; none when one of them can be any program."""
    names = [command.split()[0] for command in commands]
    return frozenset() if any(not set(name).isdisjoint("*?\\") for name in names) else frozenset(names)


def words_fit(pattern: CommandPattern, words: tuple[Word, ...], *, sure: bool) -> bool:
    wanted, is_open = pattern
    if words[0] is None:
        return False  # it can be any program: that is a doubt, not a match
    if len(words) < len(wanted) or (len(words) > len(wanted) and not is_open):
        return False
    pairs = zip(wanted, words, strict=False)
    return all((not sure) if word is None else one.fits(word) for one, word in pairs)


def _begins(words: tuple[str, ...], patterns: list[CommandPattern]) -> bool:
    named = (words[0].rpartition("/")[2], *words[1:])
    return any(words_fit((wanted, True), named, sure=True) for wanted, _ in patterns)
