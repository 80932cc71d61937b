"""Words of a shell's syntax tree, as the program will receive them."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from greenroom.link.policy_facts.known_tools import split_words

Word = str | None
"""A word as it will be, or None when only the shell will know (variables, patterns, substitutions)."""
VALUES = split_words(
    "word number raw_string string concatenation simple_expansion expansion command_substitution process_substitution"
    " ansi_c_string brace_expression arithmetic_expansion translated_string special_variable_name"
)
_DYNAMIC_CHARS = frozenset("*?[]{}~")
_PLAIN_EXPANSION = re.compile(r"\$\{(?:#?\w+|[@*?$#!-])(?:\}|:?[-=+?]|[%#/^,])")
_NUMBERS = re.compile(r"[\s\d()+*/%$\[\]-]*")


def get_text(node: Node) -> str:
    """A node as it is written."""
    return (node.text or b"").decode()


def get_value(node: Node) -> Word:
    """A word as the program will get it; None when the text does not determine it."""
    text = get_text(node)
    if text == "{}":
        return text  # the one word with braces that no shell spreads out
    if node.type == "command_name":
        return get_value(node.children[0]) if len(node.children) == 1 else None
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
        parts = [get_value(child) for child in node.children]
        return None if None in parts else "".join(part for part in parts if part is not None)
    return None


def find_words(command: Node) -> list[Node]:
    """The words of a simple command. The grammar attaches those after a redirection to the redirection."""
    words = [child for child in command.children if child.type in VALUES or child.type == "command_name"]
    parent = command.parent
    if parent is not None and parent.type == "redirected_statement":
        words += find_words_behind(parent)
    return words


def find_words_behind(statement: Node) -> Iterator[Node]:
    """The words of a command that follow its redirections."""
    for child in statement.children:
        if child.type == "file_redirect":
            yield from child.children_by_field_name("destination")[1:]
        elif child.type == "heredoc_redirect":
            yield from child.children_by_field_name("argument")
            yield from find_words_behind(child)


def is_descriptor(word: Node) -> bool:
    """Whether a word is the number or name of a descriptor, though the grammar takes it for a word: `sh 0<file`."""
    root = word
    while root.parent is not None:
        root = root.parent
    behind = (root.text or b"")[word.end_byte : word.end_byte + 2]
    return behind[:1] in (b"<", b">") and behind[1:] != b"("


def evaluates(node: Node) -> bool:
    """Whether the shell evaluates what a variable holds, and so may run what stands between brackets in it."""
    if node.type == "arithmetic_expansion":
        return _NUMBERS.fullmatch(get_text(node)) is None
    return node.type == "expansion" and _PLAIN_EXPANSION.match(get_text(node)) is None
