"""Parses shell text into its simple commands and redirected files, and reports what it does not understand."""

import re
import shlex
from functools import lru_cache
from typing import NamedTuple

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from greenroom.link.policy_facts.confusables import BLANK, WORD, is_confusable
from greenroom.link.policy_facts.eval_builtins import evaluates_words, holds_code
from greenroom.link.policy_facts.hidden_code import find_code, sets_risky_variable
from greenroom.link.policy_facts.known_tools import split_words
from greenroom.link.policy_facts.parse_budget import TOO_LONG, ReadingBudget, TextSource
from greenroom.link.policy_facts.shell_nodes import (
    VALUES,
    Word,
    evaluates,
    find_words,
    find_words_behind,
    get_text,
    get_value,
    is_descriptor,
)
from greenroom.link.policy_facts.wrappers import find_inner
from greenroom.sentences import Sentence, build_sentence

_MOST_NESTED = 4
_MOST_COMMANDS = 200
_MOST_WORDS = 4000
"""Of all commands together; those that one command runs in turn count again."""
_LANGUAGE = Language(tree_sitter_bash.language())
_QUOTED = re.compile(r"""'[^'\n]*'|"[^"$`\\!\n]*\"""")
_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./\- &|;]*")
"""Text of which two readings must agree before a rule may allow it by its words."""
SHELLS = frozenset({"sh", "bash", "dash"})
"""Shells whose language is read here."""
OTHER_SHELLS = split_words(
    "zsh ksh mksh pdksh ash yash fish csh tcsh rc es nu nushell elvish xonsh ion pwsh powershell rbash rzsh"
)
"""Shells of languages that differ: the same text can do more there than it says here."""
_CHANGES_LATER = split_words("source . trap alias enable hash complete compgen coproc fc bind let !")
_INPUT = re.compile(r"/dev/(stdin|fd/|tty)|/proc/[^/]+/fd/")
_SHELL_FILES = split_words("--rcfile --init-file")
_HOLDERS = split_words(
    "program list pipeline subshell compound_statement redirected_statement negated_command if_statement elif_clause"
    " else_clause while_statement do_group for_statement command_substitution process_substitution string"
)
"""Nodes that only hold others."""
_SILENT = frozenset({"comment", "string_content", "heredoc_start", "heredoc_end", "heredoc_content", "variable_name"})
_BROKEN_WORD = re.compile(r"\S\\\n|\\\n[^\s]")


class SimpleCommand(NamedTuple):
    """One simple command. `is_inner` when it is found inside another command's words (`env`, `xargs`, `sh -c`)."""

    words: tuple[Word, ...]
    is_inner: bool = False

    @property
    def program(self) -> str:
        """The last part of the program's path, for tables; empty when only the shell will know."""
        return self.words[0].rpartition("/")[2] if self.words and self.words[0] else ""


class ParsedShell(NamedTuple):
    """What shell text does, as far as it can be determined."""

    commands: tuple[SimpleCommand, ...] = ()
    reads: tuple[Word, ...] = ()
    """Files that are redirected from."""
    writes: tuple[Word, ...] = ()
    """Files that are redirected to."""
    assigns: tuple[str, ...] = ()
    """Variables that are set, which can change what any later word means: as they are written."""
    doubt: Sentence | None = None
    """Why the text cannot be inspected; None when it can."""
    unseen: Sentence | None = None
    """Why it may run commands that are not among these; None when nothing in it is known to."""
    is_plain: bool = False
    """A second, simpler reading gives the same words."""


@lru_cache(maxsize=512)
def parse_shell(text: str) -> ParsedShell:
    """What a line or script of shell does."""
    return _parse(text, ReadingBudget(), 0)


def _parse(text: str, budget: ReadingBudget, depth: int) -> ParsedShell:
    refused = budget.refuse(text)
    if refused:
        return ParsedShell(doubt=refused)
    hidden = BLANK.search(text)
    if hidden:
        return ParsedShell(doubt=build_sentence("doubt.hidden_character", code=f"{ord(hidden[0]):04X}"))
    if not text.isascii() and any(map(is_confusable, WORD.findall(text))):
        return ParsedShell(doubt=build_sentence("doubt.confusable_word"))
    if _BROKEN_WORD.search(text):
        return ParsedShell(doubt=build_sentence("doubt.broken_word"))
    if depth > _MOST_NESTED:
        return ParsedShell(doubt=build_sentence("doubt.nested_shells"))
    try:
        data = text.encode()
        source = TextSource(data)
        Parser(_LANGUAGE).parse(source.read)
        root = None if source.is_exhausted else Parser(_LANGUAGE).parse(data).root_node
    except (UnicodeEncodeError, ValueError):
        return ParsedShell(doubt=build_sentence("doubt.not_text"))
    if root is None:
        return ParsedShell(doubt=TOO_LONG)
    if root.has_error:
        return ParsedShell(doubt=build_sentence("doubt.not_shell"))
    reading = _TreeWalker(budget, depth)
    reading.walk(root)
    if not reading.commands and not reading.doubt and not (reading.writes or reading.assigns):
        reading.doubt = build_sentence("doubt.no_command") if text.strip() else None
    return ParsedShell(
        tuple(reading.commands),
        tuple(reading.reads),
        tuple(reading.writes),
        tuple(reading.assigns),
        reading.doubt,
        reading.unseen,
        depth == 0 and not reading.doubt and _agrees_with_shlex(text, reading.commands),
    )


class _TreeWalker:
    """Walks a syntax tree; a node of a kind that is not known here makes the text uninspectable."""

    def __init__(self, budget: ReadingBudget, depth: int) -> None:
        self.commands: list[SimpleCommand] = []
        self.reads: list[Word] = []
        self.writes: list[Word] = []
        self.assigns: list[str] = []
        self.doubt: Sentence | None = None
        self.unseen: Sentence | None = None
        self._budget = budget
        self._depth = depth
        self._words = 0

    def walk(self, root: Node) -> None:
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if not self._budget.take():
                self._note_doubt(TOO_LONG)
                return
            if not node.is_named or node.type in _SILENT:
                continue
            waiting += reversed(self._visit_node(node))

    def _visit_node(self, node: Node) -> list[Node]:
        """Note what a node does; the nodes below it that are to be looked at."""
        kind = node.type
        if kind == "command":
            self._visit_command(node)
        elif kind in ("declaration_command", "unset_command"):
            self._visit_declaration(node)
        elif kind == "variable_assignment":
            self._assign(get_text(node))
        elif evaluates(node):
            self._note_doubt(build_sentence("doubt.evaluated_variable"))
        elif kind == "redirected_statement":
            self._visit_redirected_words(node)
        elif kind == "file_redirect":
            self._visit_redirect(node)
        elif kind == "heredoc_redirect":
            self._visit_heredoc(node)
        elif kind in ("herestring_redirect", "heredoc_body"):
            pass
        elif kind == "for_statement":
            for child in node.children_by_field_name("variable"):
                self._assign(get_text(child))
        elif kind not in _HOLDERS and kind not in VALUES and kind not in ("command_name", "file_descriptor"):
            self._note_doubt(build_sentence("doubt.unread_syntax", what=kind.replace("_", " ")))
        return list(node.children)

    def _visit_command(self, node: Node) -> None:
        nodes = find_words(node)
        if any(map(is_descriptor, nodes)):
            self._note_doubt(build_sentence("doubt.descriptor"))
        words = tuple(map(get_value, nodes))
        if words:
            self._note_command(SimpleCommand(words))

    def _visit_declaration(self, node: Node) -> None:
        """`export`, `declare` and the like: with some of their options the shell evaluates assigned values."""
        told = [child for child in node.children[1:] if child.type not in ("variable_assignment", "variable_name")]
        values = [get_value(child) for child in told]
        if any(word is None or word[:1] in "-+" or holds_code(word) for word in values):
            self._note_doubt(build_sentence("doubt.runs_words", program=get_text(node.children[0])))
        self._keep_command(SimpleCommand(tuple(map(get_value, node.children))))
        self._assign(get_text(node))
        for child in node.children:
            if child.type in ("variable_assignment", "variable_name") and sets_risky_variable(get_text(child)):
                self._note_unreadable(build_sentence("doubt.run_variable"))

    def _assign(self, text: str) -> None:
        self.assigns.append(text)
        if sets_risky_variable(text):
            self._note_unreadable(build_sentence("doubt.run_variable"))

    def _visit_redirected_words(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        if (body is None or body.type != "command") and any(find_words_behind(node)):
            self._note_doubt(build_sentence("doubt.words_behind_redirection"))

    def _note_command(self, simple: SimpleCommand) -> None:
        if not self._keep_command(simple):
            return
        program, words = simple.program, simple.words
        self._note_unreadable(find_code(program, words))
        if words[0] is None:
            self._note_doubt(build_sentence("doubt.unknown_program"))
        elif program in SHELLS:
            self._read_inner_shell(words)
        elif program in OTHER_SHELLS:
            self._note_doubt(build_sentence("doubt.other_shell", program=program))
            self._read_inner_shell(words)
        elif program == "eval":
            told = words[2:] if words[1:2] == ("--",) else words[1:]
            self._parse_inner(" ".join(word for word in told if word is not None), None in told)
        elif program in _CHANGES_LATER:
            self._note_doubt(build_sentence("doubt.changes_later", program=program))
        elif evaluates_words(program, words):
            self._note_doubt(build_sentence("doubt.runs_words", program=program))
        else:
            self._visit_wrapped(program, words)

    def _keep_command(self, simple: SimpleCommand) -> bool:
        """Whether there is room for another command; further ones are not read."""
        self._words += len(simple.words)
        if len(self.commands) >= _MOST_COMMANDS or self._words > _MOST_WORDS:
            self._note_doubt(build_sentence("doubt.too_many_commands", commands=_MOST_COMMANDS, words=_MOST_WORDS))
            return False
        self.commands.append(simple)
        return True

    def _note_doubt(self, why: Sentence | None) -> None:
        self.doubt = self.doubt or why

    def _note_unreadable(self, why: Sentence | None) -> None:
        self.unseen = self.unseen or why

    def _read_inner_shell(self, words: tuple[Word, ...]) -> None:
        """A shell in the shell: its commands are read too, unless they come from elsewhere."""
        takes_text, takes_input, place = False, False, 1
        while place < len(words) and (word := words[place]) is not None and word[:1] in ("-", "+") and word != "-":
            if word in _SHELL_FILES or word.startswith(("--rcfile=", "--init-file=")):
                self._note_doubt(build_sentence("doubt.shell_file"))
            if word.startswith("--"):
                place += 2 if word in _SHELL_FILES else 1
                continue
            takes_text = takes_text or (word.startswith("-") and "c" in word)
            takes_input = takes_input or "s" in word
            place += 1 + word.count("o") + word.count("O")  # each of these options has a value, in the words behind
        if takes_text:
            text = words[place] if place < len(words) else None
            self._parse_inner(text or "", text is None)
        elif takes_input or place >= len(words) or (words[place] or "-") == "-" or _INPUT.match(words[place] or ""):
            self._note_doubt(build_sentence("doubt.commands_from_elsewhere"))

    def _parse_inner(self, text: str, is_unknown: bool) -> None:
        if is_unknown:
            self._note_doubt(build_sentence("doubt.commands_at_run"))
            return
        inner = _parse(text, self._budget, self._depth + 1)
        for one in inner.commands:
            if not self._keep_command(one._replace(is_inner=True)):
                break
        self.reads += inner.reads
        self.writes += inner.writes
        self.assigns += inner.assigns
        self._note_doubt(inner.doubt)
        self._note_unreadable(inner.unseen)

    def _visit_wrapped(self, program: str, words: tuple[Word, ...]) -> None:
        """A program that runs another."""
        inner = find_inner(program, words)
        self._note_doubt(inner.doubt)
        for command in inner.commands:
            self._note_command(SimpleCommand(command, is_inner=True))
        for text in inner.texts:
            self._parse_inner(text, False)

    def _visit_heredoc(self, node: Node) -> None:
        """A here-document: unless its delimiter is quoted, the shell runs what stands between backticks in it."""
        start = next((get_text(child) for child in node.children if child.type == "heredoc_start"), "")
        body = next((get_text(child) for child in node.children if child.type == "heredoc_body"), "")
        if "`" in body and set(start).isdisjoint("'\"\\"):
            self._note_doubt(build_sentence("doubt.here_document"))

    def _visit_redirect(self, node: Node) -> None:
        target = node.child_by_field_name("destination")
        value = None if target is None else get_value(target)
        sign = "".join(child.type for child in node.children if not child.is_named)
        if value is not None and sign.endswith("&") and (value.isdigit() or value == "-"):
            return  # to another descriptor
        if sign == "<":
            self.reads.append(value)
        else:
            self.writes.append(value)


def _agrees_with_shlex(text: str, commands: list[SimpleCommand]) -> bool:
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
