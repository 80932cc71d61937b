"""Programs that only read the files they are given and print, with every option that leaves them so.

A command with any other option asks. Not listed are programs that a shell has built in and that evaluate their words
(`printf`, `test`), those that read whole folders, where secrets may be (`grep -r`, `rg`, `diff`), and options that
follow links on the way (`ls -L`, `tree -l`): where those lead nobody has looked.
"""

import re
from typing import NamedTuple

from greenroom.nouns.policy.tables import each

_NUMBER = re.compile(r"-[0-9]+")
_LEADS_ELSEWHERE = ("=", "@")
"""What some shell, or some of these programs, takes for another file than the word says."""


class Reader(NamedTuple):
    """The options of one program that only let it read."""

    flags: str = ""
    """Letters of options without a value."""
    values: str = ""
    """Letters of options with a value."""
    long: frozenset[str] = frozenset()
    numbers: bool = False
    """Whether `-20` is an option."""
    operands: re.Pattern[str] | None = None
    """What its other words must look like; None for any."""


_GREP = Reader(
    "EFGPchilLnoqsvwxyabHIzTu",
    "ABCem",
    each(
        "--color --colour --include --exclude --line-number --count --ignore-case --only-matching --max-count --context"
        " --after-context --before-context --extended-regexp --fixed-strings --perl-regexp --files-with-matches"
        " --files-without-match --invert-match --word-regexp --line-regexp --no-filename --with-filename --quiet"
        " --regexp"
    ),
    numbers=True,
)
_DIGEST = Reader("btz", "", each("--binary --text --tag --zero"))
READERS: dict[str, Reader] = {
    "ls": Reader(
        "aAbBcCdfFgGhHiklmnNopqQrRsStuUvxXZ1",
        "ITw",
        each(
            "--all --almost-all --color --human-readable --reverse --recursive --size --sort --time --full-time"
            " --time-style --group-directories-first --directory --inode --classify --file-type --si"
        ),
    ),
    "cat": Reader(
        "AbeEnstTuv", "", each("--number --number-nonblank --show-all --show-ends --show-tabs --squeeze-blank")
    ),
    "head": Reader("qvz", "nc", each("--lines --bytes --quiet --silent --verbose"), numbers=True),
    "tail": Reader("qvz", "nc", each("--lines --bytes --quiet --silent --verbose"), numbers=True),
    "wc": Reader("clmwL", "", each("--bytes --chars --lines --words --max-line-length")),
    "pwd": Reader("LP"),
    "echo": Reader("neE"),
    "true": Reader(),
    "false": Reader(),
    "stat": Reader("LftZ", "c", each("--format --printf --dereference --file-system --terse")),
    "basename": Reader("az", "s", each("--multiple --suffix --zero")),
    "dirname": Reader("z", "", each("--zero")),
    "cut": Reader("nsz", "bcdf", each("--bytes --characters --delimiter --fields --complement --only-delimited")),
    "tr": Reader("cCdst", "", each("--complement --delete --squeeze-repeats --truncate-set1")),
    "cmp": Reader("bls", "in", each("--print-bytes --verbose --quiet --silent --bytes")),
    "uname": Reader("asnrvmpio", "", each("--all")),
    "whoami": Reader(),
    "id": Reader("agGnruzZ", "", each("--user --group --groups --name --real")),
    "seq": Reader("w", "fs", each("--equal-width --format --separator"), numbers=True),
    "nl": Reader("p", "bdfhilnsvw"),
    "od": Reader("abcdfilosxv", "AjNtSw"),
    "hexdump": Reader("bcCdovx", "ens"),
    "strings": Reader("aow", "nte"),
    "tac": Reader("br", "s"),
    "rev": Reader(),
    "fold": Reader("bs", "w"),
    "expand": Reader("i", "t"),
    "column": Reader("tx", "cs", each("--table --separator --output-separator")),
    "comm": Reader("123z", "", each("--check-order --nocheck-order --total")),
    "join": Reader("iz", "aejotv12"),
    "paste": Reader("sz", "d"),
    "realpath": Reader("emLPqsz", "", each("--relative-to --relative-base")),
    "readlink": Reader("femnqsvz"),
    "du": Reader(
        "abchkmsSx0", "dBt", each("--all --summarize --human-readable --max-depth --total --apparent-size --si")
    ),
    "md5sum": _DIGEST,
    "sha1sum": _DIGEST,
    "sha256sum": _DIGEST,
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "sort": Reader(
        "bdfghiMnRrVcCmsuz", "kt", each("--reverse --numeric-sort --unique --key --field-separator --version-sort")
    ),
    "tree": Reader("adfipshDCnAqNQtcUrvu", "LIP", each("--noreport --dirsfirst --du --prune --filesfirst")),
    "date": Reader(
        "uRI", "dr", each("--utc --universal --iso-8601 --rfc-3339 --date --rfc-email"), operands=re.compile(r"\+.*")
    ),
}


def only_reads(words: tuple[str | None, ...]) -> bool:
    """Whether a command does no more than read files that it names and print."""
    reader = READERS.get(words[0] or "")
    return reader is not None and all(word is not None and _is_harmless(reader, word) for word in words[1:])


def _is_harmless(reader: Reader, word: str) -> bool:
    if word.startswith(_LEADS_ELSEWHERE):
        return False
    if word.startswith("--"):
        return word.partition("=")[0] in reader.long
    if not word.startswith("-") or word == "-":
        return reader.operands is None or reader.operands.fullmatch(word) is not None
    if reader.numbers and _NUMBER.fullmatch(word):
        return True
    for letter in word[1:]:
        if letter in reader.values:
            return True
        if letter not in reader.flags:
            return False
    return True
