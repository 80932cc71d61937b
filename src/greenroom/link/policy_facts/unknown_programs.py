"""Programs that are not known here: any may run another one from among its words (`ssh-agent ls`, `fd -x ls`)."""

import re

from greenroom.link.policy_facts.eval_builtins import is_evaluating
from greenroom.link.policy_facts.hidden_code import is_known_program
from greenroom.link.policy_facts.known_tools import split_words
from greenroom.link.policy_facts.read_only_programs import READERS
from greenroom.link.policy_facts.wrappers import is_wrapper

_RUNS_NOTHING = split_words(
    "cp mv rm rmdir mkdir ln chmod chown chgrp touch truncate mktemp tee dd df free ps kill pkill pgrep sleep cd pushd"
    " popd umask set shift exit return diff file which type jq yq xxd gzip gunzip zcat unzip xz bzip2 zstd base64 find"
    " hostname env true : alias unalias ulimit yes factor expr shuf uniq test [ [["
)
_BETWEEN = re.compile(r"[\s:;|&!'\"`=,()<>{}]+")


def find_inner_words(program: str, words: tuple[str | None, ...]) -> tuple[str, ...]:
    """The words of a program that is not known, in parts: at each of them a command may begin."""
    is_known = program in _RUNS_NOTHING or program in READERS or is_evaluating(program)
    if is_known or is_known_program(program) or is_wrapper(program):
        return ()
    parts = (part for word in words[1:] if word for part in _BETWEEN.split(word) if part)
    return tuple(part[2:] if part[0] == "-" != part[1:2] and len(part) > 2 else part for part in parts)


def find_programs(program: str, words: tuple[str | None, ...]) -> tuple[str, ...]:
    """The names of the programs that a command may run: its own, and those among the words of an unknown one."""
    inner = (word.rpartition("/")[2] for word in find_inner_words(program, words))
    return tuple(name for name in (words[0], program, *inner) if name)
