"""Code in a program's arguments or in a variable: `awk`, `git -c`, `tar --to-command`, `GIT_PAGER=`.

It is in a language that is not read here, so a rule that denies a command cannot be sure that the command is not in it.
What is in files (`make`, `python3 x.py`) is not looked for: a program that is allowed can do whatever it does.
"""

import re

from greenroom.link.policy_facts.known_tools import split_words
from greenroom.link.policy_facts.sed_scripts import may_execute
from greenroom.sentences import Sentence, build_sentence

_VARIABLES = re.compile(
    r"PATH|ENV|BASH_\w+|PS[0-4]|PROMPT_COMMAND|IFS|SHELL|SHELLOPTS|BASHOPTS|CDPATH|HOME|XDG_\w+|(?:LD|DYLD|GIT|SSH)_\w+"
    r"|\w*(?:PAGER|EDITOR|BROWSER|OPTIONS|OPTS?|FLAGS|_RSH|COMMAND|CONFIG|CONFIG_\w+|ASKPASS|SHELL|PRELOAD|WRAPPER)"
    r"|VISUAL|LESS\w*|PYTHON\w+|PERL\w+|RUBY\w+|NODE_\w+|LUA_\w+|JAVA_\w+|CLASSPATH|ZDOTDIR|TERMINFO|(?:CC|CXX|LD|AR)"
    # Numbers: the shell evaluates values that are assigned to them.
    r"|S?RANDOM|SECONDS|OPTIND|LINENO|EPOCH\w+|HIST\w+|BASHPID|GROUPS|E?UID|PPID|TMOUT|COLUMNS|LINES|FUNCNEST"
)
_ASSIGNMENT = re.compile(r"(\w+)(?:\[.*\])?\+?=", re.DOTALL)
_CODE_OPTION = r"-\w*[ceErp].*|--(?:eval|print|run|exec|require|import|command).*|.*[()`;\n].*"
_AWK = r".*(?:system|[|@]).*"
_EDITOR = r"\+.*|-\w*[cSsWi].*|--(?:cmd|eval|load|batch|command).*"
_SSH = r"-\w*[oSFDI].*"
_PACKAGES = r"exec|x|dlx|explore|-c.*|--(?:call|script-shell|node-options|shell).*"


def _abbreviated(names: str, taken: str = "") -> str:
    """A pattern for long options and every beginning of them, save beginnings of another option that is harmless."""
    cuts = {name[:length] for name in names.split() for length in range(1, len(name) + 1)}
    known = sorted(cut for cut in cuts if not (taken and taken.startswith(cut)))
    return rf"--(?:{'|'.join(map(re.escape, known))})(?:=.*)?"


_CODE: dict[str, str] = {
    **dict.fromkeys(split_words("awk gawk mawk nawk original-awk"), _AWK),
    **dict.fromkeys(
        split_words(
            "python python2 python3 pypy pypy3 node nodejs deno bun perl ruby php lua luajit tclsh Rscript osascript"
        ),
        _CODE_OPTION,
    ),
    **dict.fromkeys(split_words("vim vi view ex nvim vimdiff rvim gvim emacs emacsclient ed nano"), _EDITOR),
    **dict.fromkeys(split_words("ssh scp sftp ssh-keygen ssh-add autossh mosh"), _SSH),
    **dict.fromkeys(split_words("npm pnpm yarn"), _PACKAGES),
    **dict.fromkeys(split_words("make gmake"), r"--ev.*|\w*SHELL.*=.*|.*\$.*|.*`.*"),
    **dict.fromkeys(split_words("tar gtar bsdtar"), r"--(?:to-c|ch|us|in|new-|rs|rm).*|-?\w*[IF].*"),
    **dict.fromkeys(split_words("gcc cc g++ c++ clang"), r"-wrapper|-B.*|-fplugin.*|-specs.*|@.*"),
    **dict.fromkeys(split_words("man less more most"), r"-\w*[PHEk+].*|--(?:pa|ht|le|cm).*|\+.*"),
    **dict.fromkeys(split_words("psql mysql mariadb sqlite3 duckdb"), r".*[!|.\\].*|-\w*[ce].*|--(?:c|exe|pag).*"),
    "git": _abbreviated(
        "config config-env exec exec-path extcmd upload-pack receive-pack open-files-in-pager ext-diff textconv"
        " smtp-server sendmail-cmd httpd browser"
    )
    + r"|-c.*|-[xOu].*|.*ext::.*|.*!.*|run|foreach|filter-branch|difftool|mergetool|daemon|config|merge-index"
    r"|.*(?:-filter|cmd|helper|command|program).*",
    "rsync": r"-\w*e.*|--(?:rsh|rsync-path).*",
    "zip": r"-\w*T.*|--(?:te|un).*",
    "split": _abbreviated("filter"),
    "sort": _abbreviated("compress-program"),
    "rg": r"--(?:pre|hostname-bin).*",
    **dict.fromkeys(split_words("bat batcat delta"), _abbreviated("pager")),
    "fzf": r"--(?:preview|bind).*",
    "install": _abbreviated("strip-program", "strip"),
    "wget": _abbreviated("use-askpass execute config", "user") + r"|-\w*e.*",
    "gdb": r"-.*",
    "lldb": r"-.*",
    "dc": r".*!.*|-\w*e.*",
    "m4": r".*cmd.*",
    "xterm": r"-e",
    "cpio": r"--rs.*",
    "curl": r"-\w*K.*|" + _abbreviated("config"),
    "go": r"--?(?:exec|toolexec|vettool)(?:=.*)?",
    "nmap": r"--script.*",
    "jshell": r".*",
}
_SEDS = split_words("sed gsed ssed")
_PATTERNS = {program: re.compile(pattern, re.DOTALL) for program, pattern in _CODE.items()}
_SETTERS = split_words(
    "env sudo doas export declare typeset local readonly read mapfile readarray getopts printf wait unset"
)
_LONGEST = 2000
"""A longer word is not searched."""


def is_risky_variable(name: str) -> bool:
    """Whether programs or the shell itself run, or evaluate, what a variable holds."""
    return _VARIABLES.fullmatch(name) is not None


def sets_risky_variable(assignment: str) -> bool:
    """Whether an assignment as it is written is to such a variable."""
    found = _ASSIGNMENT.match(assignment)
    return is_risky_variable(found[1] if found else assignment)


def find_code(program: str, words: tuple[str | None, ...]) -> Sentence | None:
    """Why a command may run more than is read here; None when it is not known to."""
    known = [word for word in words[1:] if word is not None]
    if program in _SETTERS and any(map(sets_risky_variable, known)):
        return build_sentence("doubt.sets_run_variable", program=program)
    if program in _SEDS and may_execute(words[1:]):
        return build_sentence("doubt.code_in_words", program=program)
    pattern = _PATTERNS.get(program)
    if pattern is not None and any(len(word) > _LONGEST or pattern.fullmatch(word) for word in known):
        return build_sentence("doubt.code_in_words", program=program)
    return None


def is_known_program(program: str) -> bool:
    """Whether it is known here where in its words a program's code stands."""
    return program in _PATTERNS or program in _SEDS
