"""Programs that run another command from their arguments: `env`, `timeout`, `su -c`, `find -exec`.

The grammar of the common ones is known exactly. In all others any word may be where the command begins, so that a rule
that denies a command finds it wherever it stands.
"""

from typing import NamedTuple

from greenroom.link.policy_facts.known_tools import split_words
from greenroom.sentences import Sentence, build_sentence

Words = tuple[str | None, ...]
_MOST_WORDS = 200
"""Of a program whose grammar is not known; each word of it is looked at as the beginning of a command."""


class InnerCommand(NamedTuple):
    """What a program runs."""

    commands: tuple[Words, ...] = ()
    texts: tuple[str, ...] = ()
    """Shell text, to be parsed."""
    doubt: Sentence | None = None
    """Why it is unknown, or only partly known."""


class _Grammar(NamedTuple):
    """How a program's own words end and the command begins."""

    flags: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    """Options that take a value: the rest of the word, or the next word."""
    operands: int = 0
    """How many words come before the command."""
    assigns: bool = False
    """Whether words such as `NAME=value` may come before the command."""


_GRAMMARS: dict[str, _Grammar] = {
    "env": _Grammar(
        split_words("- -i -0 -v --ignore-environment --null --debug"),
        split_words("-u --unset -C --chdir"),
        assigns=True,
    ),
    "timeout": _Grammar(
        split_words("--preserve-status --foreground -v --verbose -p -f"),
        split_words("-k --kill-after -s --signal"),
        operands=1,
    ),
    "nice": _Grammar(values=split_words("-n --adjustment")),
    "nohup": _Grammar(),
    "command": _Grammar(split_words("-p -v -V")),
    "builtin": _Grammar(),
    "exec": _Grammar(split_words("-c -l"), split_words("-a")),
    "time": _Grammar(split_words("-p -v -a -q --portability --verbose"), split_words("-f -o --format --output")),
    "stdbuf": _Grammar(values=split_words("-i -o -e --input --output --error")),
    "setsid": _Grammar(split_words("-c -f -w --ctty --fork --wait")),
    "ionice": _Grammar(split_words("-t --ignore"), split_words("-c -n --class --classdata")),
    "sudo": _Grammar(
        split_words("-n -E -H -S -b -A -k -K"),
        split_words("-u -g -p -C -h -T -r -t -D -R --user --group --chdir"),
        assigns=True,
    ),
    "doas": _Grammar(split_words("-n -L"), split_words("-u -C")),
    "xargs": _Grammar(
        split_words("-0 -r -t -p -x --null --no-run-if-empty --verbose"),
        split_words("-n -P -I -L -s -d -a -E --max-args --max-procs --delimiter --arg-file"),
    ),
}
_RUNNERS = split_words(
    "asdf at batch bundle bunx busybox bwrap capsh catchsegv cgexec chronic chroot chrt conda dbus-run-session direnv"
    " docker dtach eatmydata entr expect fakeroot faketime firejail flock gdb hatch hyperfine i386 ifne kubectl linux32"
    " linux64 ltrace mamba mise multitime newgrp nix nix-shell npx nsenter numactl parallel perf pipenv pipx pkexec"
    " pnpx podman poetry prlimit proot proxychains proxychains4 rlwrap run-parts runuser rye screen script sem setarch"
    " setpriv sg ssh start-stop-daemon strace su systemd-run taskset tmux toybox torify torsocks tsocks unbuffer"
    " logsave unshare uv uvx valgrind watch x86_64"
)
"""Programs that run another one in ways that are not analysed word by word here."""
_LOADERS = ("ld-linux", "ld-musl", "ld.so", "ld64.so")
_STARTS_OF_FIND = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_ENDS_OF_FIND = frozenset({";", "+"})


def is_wrapper(program: str) -> bool:
    """Whether it is known here how it runs another program."""
    return program == "find" or program in _GRAMMARS or program in _RUNNERS or program.startswith(_LOADERS)


def find_inner(program: str, words: Words) -> InnerCommand:
    """What a command runs in turn; nothing for a program that is not known to run others."""
    if program == "find":
        return InnerCommand(_find_exec_commands(words))
    grammar = _GRAMMARS.get(program)
    exact = _parse_by_grammar(program, grammar, words) if grammar is not None else None
    if exact is not None:
        return exact
    return _find_anywhere(words) if is_wrapper(program) else InnerCommand()


def _find_exec_commands(words: Words) -> tuple[Words, ...]:
    found: list[Words] = []
    begin = 0
    for place, word in enumerate(words):
        if begin and word in _ENDS_OF_FIND:
            found.append(words[begin:place])
            begin = 0
        elif not begin and word in _STARTS_OF_FIND:
            begin = place + 1
    if begin:
        found.append(words[begin:])
    return tuple(_blank_marked(command, "{}") for command in found if command)


def _parse_by_grammar(program: str, grammar: _Grammar, words: Words) -> InnerCommand | None:
    """The command after the program's own words; None where they are not of its grammar."""
    place, operands = 1, grammar.operands
    while place < len(words):
        word = words[place]
        if word is None:
            return None
        if word == "--":
            place += 1
            continue
        if program == "env" and word.startswith(("-S", "--split-string")):
            return _split_by_env(word, words[place + 1 :])
        if (word.startswith("-") and word[1:].isdigit()) or word in grammar.flags:
            place += 1
        elif word in grammar.values:
            place += 2
        elif _is_glued(word, grammar.values):
            place += 1
        elif word.startswith("-"):
            return None
        elif grammar.assigns and "=" in word:
            place += 1
        elif operands:
            operands -= 1
            place += 1
        else:
            return InnerCommand((_fill_xargs(words, place) if program == "xargs" else words[place:],))
    return InnerCommand()


def _fill_xargs(words: Words, place: int) -> Words:
    """A command as `xargs` runs it: the words that it reads follow the command's own, or replace a mark."""
    for number, word in enumerate(words[1:place], 1):
        if word is not None and word.startswith("-I"):
            mark = word[2:] or words[number + 1]
            return _blank_marked(words[place:], mark) if mark else (None,)
    return (*words[place:], None)


def _blank_marked(words: Words, mark: str) -> Words:
    """Words of which those that hold a mark are not known before the command runs."""
    return tuple(None if word is None or mark in word else word for word in words)


def _is_glued(word: str, values: frozenset[str]) -> bool:
    """Whether an option and its value are one word."""
    if word.startswith("--"):
        return "=" in word and word.partition("=")[0] in values
    return len(word) > 2 and word[:2] in values


def _split_by_env(word: str, rest: Words) -> InnerCommand | None:
    """`env -S TEXT`: it splits the text itself, much as a shell does."""
    glued = word.removeprefix("--split-string").removeprefix("-S").removeprefix("=")
    parts = ([glued] if glued else []) + list(rest)
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    text = " ".join(known)
    is_plain = set(text).isdisjoint("\\$")
    return InnerCommand(texts=(text,), doubt=None if is_plain else build_sentence("doubt.env_splits"))


def _find_anywhere(words: Words) -> InnerCommand:
    """Each word may be the beginning of a command, and each text the whole of one."""
    if len(words) > _MOST_WORDS:
        said = build_sentence("doubt.command_among_words", program=words[0], limit=_MOST_WORDS)
        return InnerCommand(doubt=said)
    words = _blank_marked(words, "{}")
    commands: list[Words] = []
    texts: list[str] = []
    for place, word in enumerate(words[1:], 1):
        if word is None:
            continue
        text = _get_glued_value(word) if word.startswith("-") else word
        if any(sign in text for sign in " \t\n;|&"):
            texts.append(text)
        elif text == word and "=" not in word:
            commands.append(words[place:])
    doubt = build_sentence("doubt.known_to_shell_only", program=words[0]) if None in words else None
    return InnerCommand(tuple(commands), tuple(texts), doubt)


def _get_glued_value(option: str) -> str:
    """The part that is joined to an option."""
    return option.partition("=")[2] if option.startswith("--") else option[2:]
