"""Reads shell text: every simple command in it, and the files that it redirects to. What is not understood says so."""

import re
import shlex
from functools import lru_cache
from typing import NamedTuple

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from greenroom.nouns.policy.signs import BLANK, WORD, passes_for_another
from greenroom.nouns.policy.tables import each

Word = str | None
"""A word as it will be, or None when only the shell will know (variables, patterns, substitutions)."""
_MOST_CHARS = 20_000
_MOST_NESTED = 4
_MOST_COMMANDS = 200
_LANGUAGE = Language(tree_sitter_bash.language())
_QUOTED = re.compile(r"""'[^'\n]*'|"[^"$`\\!\n]*\"""")
_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./\- &|;]*")
"""Text of which two readings must agree before a rule may allow it by its words."""
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "busybox"})
_WRAPPERS = each(
    "sudo doas env timeout nice nohup xargs command builtin exec time stdbuf setsid ionice chrt unshare nsenter flock"
    " watch strace ltrace script parallel entr setarch taskset chroot su runuser ssh"
)
_HOLDERS = each(
    "program list pipeline subshell compound_statement redirected_statement negated_command if_statement elif_clause"
    " else_clause while_statement do_group for_statement command_substitution process_substitution string"
)
"""Nodes that only hold others."""
_SILENT = frozenset({"comment", "string_content", "heredoc_start", "heredoc_end", "heredoc_content", "variable_name"})
_VALUES = each(
    "word number raw_string string concatenation simple_expansion expansion command_substitution process_substitution"
    " ansi_c_string brace_expression arithmetic_expansion translated_string special_variable_name"
)
_AMOUNT = re.compile(r"[0-9.]+[smhd]?")
_BROKEN_WORD = re.compile(r"\S\\\n|\\\n[^\s]")
_DYNAMIC_CHARS = frozenset("*?[]{}~")


class Simple(NamedTuple):
    """One simple command. `is_inner` when it is found inside another command's words (`env`, `xargs`, `sh -c`)."""

    words: tuple[Word, ...]
    is_inner: bool = False

    @property
    def program(self) -> str:
        """The last part of the program's path, for tables; empty when only the shell will know."""
        return self.words[0].rpartition("/")[2] if self.words and self.words[0] else ""


class Parsed(NamedTuple):
    """What shell text does, as far as can be told."""

    commands: tuple[Simple, ...] = ()
    reads: tuple[Word, ...] = ()
    """Files that are redirected from."""
    writes: tuple[Word, ...] = ()
    """Files that are redirected to."""
    assigns: bool = False
    """Variables are set, which can change what any later word means."""
    doubt: str = ""
    """Why the text cannot be inspected; empty when it can."""
    is_plain: bool = False
    """A second, simpler reading gives the same words."""


def parse(text: str) -> Parsed:
    """What a line or script of shell does."""
    return _parse(text, 0)


@lru_cache(maxsize=512)
def _parse(text: str, depth: int) -> Parsed:
    if len(text) > _MOST_CHARS:
        return Parsed(doubt=f"it is longer than {_MOST_CHARS} characters")
    hidden = BLANK.search(text)
    if hidden:
        return Parsed(doubt=f"it holds the hidden character U+{ord(hidden[0]):04X}")
    if not text.isascii() and any(map(passes_for_another, WORD.findall(text))):
        return Parsed(doubt="a word in it is of letters that look like others")
    if _BROKEN_WORD.search(text):
        return Parsed(doubt="a word is broken across lines")
    if depth > _MOST_NESTED:
        return Parsed(doubt="shells are nested too deeply")
    try:
        root = Parser(_LANGUAGE).parse(text.encode()).root_node
    except (UnicodeEncodeError, ValueError):
        return Parsed(doubt="it is not text")
    if root.has_error:
        return Parsed(doubt="it cannot be parsed as shell")
    reading = _Reading(depth)
    reading.walk(root)
    if not reading.commands and not reading.doubt and not (reading.writes or reading.assigns):
        reading.doubt = "it holds no command" if text.strip() else ""
    return Parsed(
        tuple(reading.commands),
        tuple(reading.reads),
        tuple(reading.writes),
        reading.assigns,
        reading.doubt,
        depth == 0 and not reading.doubt and _agrees(text, reading.commands),
    )


class _Reading:
    """Walks a syntax tree; a node of a kind that is not known here makes the text uninspectable."""

    def __init__(self, depth: int) -> None:
        self.commands: list[Simple] = []
        self.reads: list[Word] = []
        self.writes: list[Word] = []
        self.assigns = False
        self.doubt = ""
        self._depth = depth

    def walk(self, root: Node) -> None:
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if not node.is_named or node.type in _SILENT:
                continue
            waiting += reversed(self._take(node))

    def _take(self, node: Node) -> list[Node]:
        """Note what a node does; the nodes below it that are to be looked at."""
        kind = node.type
        if kind == "command":
            self._command(node)
        elif kind in ("declaration_command", "unset_command"):
            self.commands.append(Simple(tuple(_value(child) for child in node.children)))
            self.assigns = True
        elif kind == "variable_assignment":
            self.assigns = True
        elif kind == "file_redirect":
            self._redirect(node)
        elif kind in ("heredoc_redirect", "herestring_redirect", "heredoc_body"):
            pass
        elif kind == "for_statement":
            self.assigns = True
        elif kind not in _HOLDERS and kind not in _VALUES and kind not in ("command_name", "file_descriptor"):
            self.doubt = self.doubt or f"it uses {kind.replace('_', ' ')}"
        return list(node.children)

    def _command(self, node: Node) -> None:
        words = tuple(
            _value(child)
            for child in node.children
            if child.is_named and (child.type in _VALUES or child.type == "command_name")
        )
        self.assigns = self.assigns or any(child.type == "variable_assignment" for child in node.children)
        if words:
            self._note(Simple(words))

    def _note(self, simple: Simple) -> None:
        if len(self.commands) >= _MOST_COMMANDS:
            self.doubt = self.doubt or f"it holds more than {_MOST_COMMANDS} commands"
            return
        self.commands.append(simple)
        program, words = simple.program, simple.words
        if words[0] is None:
            self.doubt = self.doubt or "the program is named by a variable or a substitution"
        elif program in SHELLS:
            self._shell(words)
        elif program == "eval":
            self._inner(" ".join(word for word in words[1:] if word is not None), None in words)
        elif program in ("source", ".", "trap", "alias", "enable", "hash", "complete", "coproc", "fc", "bind"):
            self.doubt = self.doubt or f"`{program}` changes what later commands mean"
        elif program in _WRAPPERS:
            self._wrapped(words)
        elif program == "find":
            self._found(words)

    def _shell(self, words: tuple[Word, ...]) -> None:
        """A shell in the shell: what it runs is read too, unless it takes it from elsewhere."""
        for place, word in enumerate(words[1:], 1):
            if word is not None and re.fullmatch(r"-[a-zA-Z]*c", word):
                text = words[place + 1] if place + 1 < len(words) else None
                self._inner(text or "", text is None)
                return
        if not any(word is not None and not word.startswith("-") for word in words[1:]):
            self.doubt = self.doubt or "a shell takes its commands from elsewhere"

    def _inner(self, text: str, is_unknown: bool) -> None:
        if is_unknown:
            self.doubt = self.doubt or "commands are put together when it runs"
            return
        inner = _parse(text, self._depth + 1)
        self.commands += [one._replace(is_inner=True) for one in inner.commands]
        self.reads += inner.reads
        self.writes += inner.writes
        self.assigns = self.assigns or inner.assigns
        self.doubt = self.doubt or inner.doubt

    def _wrapped(self, words: tuple[Word, ...]) -> None:
        """A program that runs another: each word from which the other could begin is taken for its beginning."""
        before = ""
        for place, word in enumerate(words[1:], 1):
            if word is None:
                self.doubt = self.doubt or f"`{words[0]}` runs what only the shell will know"
                return
            if word.startswith("-") or "=" in word or _AMOUNT.fullmatch(word):
                before = word
                continue
            if " " in word:
                self._inner(word, False)
            else:
                self._note(Simple(words[place:], is_inner=True))
            if not before.startswith("-") and words[0] != "ssh":
                return
            before = word

    def _found(self, words: tuple[Word, ...]) -> None:
        for place, word in enumerate(words):
            if word in ("-exec", "-execdir", "-ok", "-okdir") and place + 1 < len(words):
                self.commands.append(Simple(words[place + 1 :], is_inner=True))

    def _redirect(self, node: Node) -> None:
        target = node.child_by_field_name("destination")
        value = None if target is None else _value(target)
        sign = "".join(child.type for child in node.children if not child.is_named)
        if value is not None and sign.endswith("&") and (value.isdigit() or value == "-"):
            return  # to another descriptor
        if sign == "<":
            self.reads.append(value)
        else:
            self.writes.append(value)


def _value(node: Node) -> Word:
    """A word as the program will get it; None when that cannot be told from the text."""
    text = (node.text or b"").decode()
    if node.type == "command_name":
        return _value(node.children[0]) if len(node.children) == 1 else None
    if node.type == "raw_string":
        return text[1:-1]
    if node.type == "number" or not node.is_named:
        return text
    if node.type == "word":
        return None if not _DYNAMIC_CHARS.isdisjoint(text) else re.sub(r"\\(.)", r"\1", text.replace("\\\n", ""))
    if node.type == "string":
        inner = text[1:-1]
        plain = all(child.type == "string_content" for child in node.children if child.is_named)
        return inner if plain and not set(inner) & set("$`\\") else None
    if node.type == "concatenation":
        parts = [_value(child) for child in node.children]
        return None if None in parts else "".join(part for part in parts if part is not None)
    return None


def _agrees(text: str, commands: list[Simple]) -> bool:
    """Whether Python's own reading of shell words gives the same commands."""
    text = text.strip()
    if not _PLAIN.fullmatch(_QUOTED.sub("q", text)):
        return False
    try:
        lexer = shlex.shlex(text, posix=True, punctuation_chars="&|;")
        lexer.commenters, lexer.whitespace_split = "", True
        tokens = list(lexer)
    except ValueError:
        return False
    found: list[tuple[str, ...]] = [()]
    for token in tokens:
        if token in ("&&", "||", ";", "|"):
            found.append(())
        elif set(token) <= set("&|;") and token:
            return False
        else:
            found[-1] += (token,)
    return [one for one in found if one] == [one.words for one in commands if not one.is_inner]
