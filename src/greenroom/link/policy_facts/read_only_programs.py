"""Programs that only read the files they are given and print, with every option that keeps them so.

A command with any other option asks. Not listed are programs that a shell has built in and that evaluate their words
(`printf`, `test`), those that read whole folders, where secrets may be (`grep -r`, `rg`, `diff`), and options that
follow links on the way (`ls -L`, `tree -l`): where those lead nobody has looked.
"""

import re
from typing import NamedTuple

from greenroom.link.policy_facts.known_tools import split_words

_NUMBER = re.compile(r"-[0-9]+")
_LEADS_ELSEWHERE = ("=", "@")
"""What some shell, or some of these programs, takes for another file than the word says."""


class ReadOnlyProgram(NamedTuple):
    """The options of one program that only let it read."""

    flags: str = ""
    """Letters of options without a value."""
    values: str = ""
    """Letters of options with a value."""
    long: frozenset[str] = frozenset()
    numbers: bool = False
    """Whether `-20` is an option."""
    takes_next: bool = False
    """Whether an option's value is always the next word: the letters behind it are options too."""
    operands: re.Pattern[str] | None = None
    """What its other words must look like; None for any."""


_GREP = ReadOnlyProgram(
    "EFGPchilLnoqsvwxyabHIzTu",
    "ABCem",
    split_words(
        "--color --colour --include --exclude --line-number --count --ignore-case --only-matching --max-count --context"
        " --after-context --before-context --extended-regexp --fixed-strings --perl-regexp --files-with-matches"
        " --files-without-match --invert-match --word-regexp --line-regexp --no-filename --with-filename --quiet"
        " --regexp"
    ),
    numbers=True,
)
_DIGEST = ReadOnlyProgram("btz", "", split_words("--binary --text --tag --zero"))
READERS: dict[str, ReadOnlyProgram] = {
    "ls": ReadOnlyProgram(
        "aAbBcCdfFgGhHiklmnNopqQrRsStuUvxXZ1",
        "ITw",
        split_words(
            "--all --almost-all --color --human-readable --reverse --recursive --size --sort --time --full-time"
            " --time-style --group-directories-first --directory --inode --classify --file-type --si"
        ),
    ),
    "cat": ReadOnlyProgram(
        "AbeEnstTuv", "", split_words("--number --number-nonblank --show-all --show-ends --show-tabs --squeeze-blank")
    ),
    "head": ReadOnlyProgram("qvz", "nc", split_words("--lines --bytes --quiet --silent --verbose"), numbers=True),
    "tail": ReadOnlyProgram("qvz", "nc", split_words("--lines --bytes --quiet --silent --verbose"), numbers=True),
    "wc": ReadOnlyProgram("clmwL", "", split_words("--bytes --chars --lines --words --max-line-length")),
    "pwd": ReadOnlyProgram("LP"),
    "echo": ReadOnlyProgram("neE"),
    "true": ReadOnlyProgram(),
    "false": ReadOnlyProgram(),
    "stat": ReadOnlyProgram("LftZ", "c", split_words("--format --printf --dereference --file-system --terse")),
    "basename": ReadOnlyProgram("az", "s", split_words("--multiple --suffix --zero")),
    "dirname": ReadOnlyProgram("z", "", split_words("--zero")),
    "cut": ReadOnlyProgram(
        "nsz", "bcdf", split_words("--bytes --characters --delimiter --fields --complement --only-delimited")
    ),
    "tr": ReadOnlyProgram("cCdst", "", split_words("--complement --delete --squeeze-repeats --truncate-set1")),
    "cmp": ReadOnlyProgram("bls", "in", split_words("--print-bytes --verbose --quiet --silent --bytes")),
    "uname": ReadOnlyProgram("asnrvmpio", "", split_words("--all")),
    "whoami": ReadOnlyProgram(),
    "id": ReadOnlyProgram("agGnruzZ", "", split_words("--user --group --groups --name --real")),
    "seq": ReadOnlyProgram("w", "fs", split_words("--equal-width --format --separator"), numbers=True),
    "nl": ReadOnlyProgram("p", "bdfhilnsvw"),
    "od": ReadOnlyProgram("abcdfilosxv", "AjNtSw"),
    "hexdump": ReadOnlyProgram("bcCdovx", "ens"),
    "strings": ReadOnlyProgram("aow", "nte"),
    "tac": ReadOnlyProgram("br", "s"),
    "rev": ReadOnlyProgram(),
    "fold": ReadOnlyProgram("bs", "w"),
    "expand": ReadOnlyProgram("i", "t"),
    "column": ReadOnlyProgram("tx", "cs", split_words("--table --separator --output-separator")),
    "comm": ReadOnlyProgram("123z", "", split_words("--check-order --nocheck-order --total")),
    "join": ReadOnlyProgram("iz", "aejotv12"),
    "paste": ReadOnlyProgram("sz", "d"),
    "realpath": ReadOnlyProgram("emLPqsz", "", split_words("--relative-to --relative-base")),
    "readlink": ReadOnlyProgram("femnqsvz"),
    "du": ReadOnlyProgram(
        "abchkmsSx0", "dBt", split_words("--all --summarize --human-readable --max-depth --total --apparent-size --si")
    ),
    "md5sum": _DIGEST,
    "sha1sum": _DIGEST,
    "sha256sum": _DIGEST,
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "sort": ReadOnlyProgram(
        "bdfghiMnRrVcCmsuz",
        "kt",
        split_words("--reverse --numeric-sort --unique --key --field-separator --version-sort"),
    ),
    "tree": ReadOnlyProgram(
        "adfipshDCnAqNQtcUrvu",
        "LIP",
        split_words("--noreport --dirsfirst --du --prune --filesfirst"),
        takes_next=True,
    ),
    "date": ReadOnlyProgram(
        "uRI",
        "dr",
        split_words("--utc --universal --iso-8601 --rfc-3339 --date --rfc-email"),
        operands=re.compile(r"\+.*"),
    ),
}


def only_reads(words: tuple[str | None, ...]) -> bool:
    """Whether a command does no more than read files that it names and print."""
    reader = READERS.get(words[0] or "")
    return reader is not None and all(word is not None and _is_harmless(reader, word) for word in words[1:])


def _is_harmless(reader: ReadOnlyProgram, word: str) -> bool:
    if word.startswith(_LEADS_ELSEWHERE):
        return False
    if word.startswith("--"):
        return word.partition("=")[0] in reader.long
    if not word.startswith("-") or word == "-":
        return reader.operands is None or reader.operands.fullmatch(word) is not None
    if reader.numbers and _NUMBER.fullmatch(word):
        return True
    for letter in word[1:]:
        if letter in reader.values and not reader.takes_next:
            return True
        if letter not in reader.flags + reader.values:
            return False
    return True
