"""Shell builtins that evaluate their arguments, and so run code between brackets in them."""

import re

from greenroom.link.policy_facts.known_tools import split_words

_EVALUATES = split_words(
    "printf test [ read wait mapfile readarray getopts print integer float declare typeset local export readonly unset"
)
"""Builtins that some shell takes apart the words of, and runs what stands between brackets there."""
_EVALUATED = frozenset("[$`")
_IS_TESTED = split_words("-n -z = == != -f -d -e -r -w -x -s -L -h ! ] -a -o")
"""Words of `test` that take no part of a text for code in any shell."""
_IS_PRINTED = re.compile(r"(?:[^%]|%%|%-?\d*(?:\.\d+)?[sbqc])*", re.DOTALL)


def holds_code(word: str) -> bool:
    """Whether there is something in a word that a shell would run if it evaluates it."""
    return not _EVALUATED.isdisjoint(word)


def is_evaluating(program: str) -> bool:
    """Whether it is a builtin whose words are looked at here."""
    return program in _EVALUATES


def evaluates_words(program: str, words: tuple[str | None, ...]) -> bool:
    """Whether a builtin may evaluate one of its words, or set a variable that only the shell will know."""
    if program not in _EVALUATES:
        return False
    told = words[1:]
    if any(word and holds_code(word) for word in told):
        return True
    if program in ("mapfile", "readarray"):
        return None in told or any(word and word.startswith("-") and word != "-t" for word in told)
    if program == "printf":
        return bool(told) and (told[0] is None or told[0][:1] == "-" or not _IS_PRINTED.fullmatch(told[0]))
    if program in ("test", "["):
        return None in told and any(word and word.startswith("-") and word not in _IS_TESTED for word in told)
    return None in told
