"""Known facts about tools and programs: what their arguments are, what they do, and how much harm they can do."""

import re
from typing import get_args

from greenroom.link.policy_facts.call_request import CallKind
from greenroom.sentences import Sentence, build_sentence


def split_words(words: str) -> frozenset[str]:
    """The words of a text, for long tables."""
    return frozenset(words.split())


KINDS: tuple[CallKind, ...] = get_args(CallKind)

COMMAND_ARGUMENTS = ("command", "cmd", "script", "commandLine", "command_line")
PATH_ARGUMENTS = split_words(
    "file_path path notebook_path filePath absolute_path file filename paths files target_file dir directory folder"
    " dir_path root cwd destination source target old_path new_path workdir grantRoot include_directories"
    " working_directory workingDirectory working_dir workspace base_dir basedir base_path"
)
DIRECTORY_ARGUMENTS = split_words("cwd workdir directory dir_path working_directory workingDirectory working_dir")
EDITOR_WORDS = split_words("view create str_replace insert undo_edit delete rename")
"""The commands of tools that edit files, such as `command: view`."""
SHELL_ARGUMENTS = ("args", "env", "environment", "shell", "interpreter", "executable", "stdin")
"""What beside a command's text can make another command of it."""
CONTENT_ARGUMENTS = split_words(
    "content contents text new_string old_string newString oldString new_str old_str file_text insert_text replacement"
    " new_source patch diff patch_text patchText input edits query queries regex regexp search replace prompt"
    " description title reason explanation intent instruction instructions"
)
"""What is written or looked for, and words for people: these name no file, whatever they begin with."""
URL_ARGUMENTS = frozenset({"url", "urls", "uri", "endpoint", "href", "host", "hostname", "base_url"})
ADVISORY = frozenset({"description", "timeout", "timeout_ms", "title", "reason", "explanation", "intent"})
"""Arguments of shell tools that are words for people: they make no other call of it."""

_DANGEROUS = split_words(
    "rm rmdir shred dd mkfs fdisk parted mount umount sudo su doas chmod chown chgrp chattr setfacl kill killall pkill"
    " shutdown reboot halt poweroff systemctl service crontab at useradd usermod userdel passwd visudo iptables nft"
    " docker podman kubectl helm terraform ansible aws gcloud az gh glab xargs eval exec env nohup setsid screen tmux"
    " mkfifo insmod modprobe sysctl launchctl osascript defaults security keytool gpg openssl truncate"
)
_NETWORK = split_words(
    "curl wget ssh scp sftp rsync nc ncat netcat telnet ftp socat dig nslookup ping traceroute pip pip3 npm npx pnpm"
    " yarn bun cargo gem go brew apt apt-get dnf yum pacman apk snap http https aria2c lynx w3m rclone uv uvx"
)
_INTERPRETERS = split_words("python python3 node deno perl ruby php lua awk gawk mawk sed osascript tclsh Rscript")
_GIT_NETWORK = frozenset({"push", "pull", "fetch", "clone", "remote", "submodule", "ls-remote", "send-email"})

SECRET = re.compile(
    r"(^|/)(\.env(\.[^/]*)?|\.netrc|\.git-credentials|credentials(\.json)?|id_(rsa|dsa|ecdsa|ed25519)|[^/]*\.(pem|key|p12"
    r"|pfx|kdbx|keystore|jks))$|(^|/)(\.ssh|\.gnupg|\.aws|\.kube|\.docker|\.config/gh)(/|$)",
    re.IGNORECASE,
)
"""Files that hold secrets: to read them is never quiet."""
DESK = re.compile(r"(^|/)\.greenroom/node/(work|worktrees)/[^/]+(/|$)")
"""The directories that a node makes for its agents, where its data directory is the usual one."""
HUB_OWN = re.compile(
    r"(^|/)(\.greenroom(/|$)|operator\.token$)|^/proc/[^/]+/(task/[^/]+/)?(environ|mem|root|fd|cwd)(/|$)", re.IGNORECASE
)
"""The hub's own state, which no agent has any business with."""


def describe_danger(words: tuple[str | None, ...], program: str) -> Sentence | None:
    """A warning about a command; None for none."""
    if program in _DANGEROUS:
        return build_sentence("danger.lasting_harm", program=program)
    if program in _NETWORK:
        return build_sentence("danger.network", program=program)
    if program == "git" and any(word in _GIT_NETWORK for word in words[1:]):
        return build_sentence("danger.git_network")
    if program in _INTERPRETERS and any(
        word and re.match(r"-[a-zA-Z]*[ceE]$|--eval|-i$|--in-place", word) for word in words[1:]
    ):
        return build_sentence("danger.code_in_words", program=program)
    return None


def takes_commands(program: str) -> bool:
    """Whether a program with other words can do anything at all, or lasting harm, or reach the network."""
    return program in _DANGEROUS | _NETWORK | _INTERPRETERS or program == "git"


def is_network(program: str, words: tuple[str | None, ...]) -> bool:
    """Whether a command is made to reach the network."""
    return program in _NETWORK or (program == "git" and any(word in _GIT_NETWORK for word in words[1:]))
