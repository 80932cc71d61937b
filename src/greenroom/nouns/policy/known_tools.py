"""What is known of tools and programs: what they do, and how much harm they can do."""

import re

from greenroom.nouns.servers.model import HUB_PREFIX


def split_words(words: str) -> frozenset[str]:
    """The words of a text, for long tables."""
    return frozenset(words.split())


KINDS = ("read", "search", "write", "execute", "network", "plan", "hub", "other")
_TOOLS: dict[str, str] = {
    "read": "Read NotebookRead LS read view list ls read_file read_many_files list_directory view_image"
    " ReadMcpResourceTool ListMcpResourcesTool lsp",
    "search": "Glob Grep glob grep search_file_content grep_search search rg codebase_search ToolSearch",
    "write": "Edit MultiEdit Write NotebookEdit edit write patch apply_patch multiedit write_file replace create"
    " str_replace_editor fileChange delete move save_memory",
    "execute": "Bash bash shell execute run_shell_command commandExecution local_shell exec_command write_stdin"
    " write_bash powershell PowerShell Monitor",
    "network": "WebFetch WebSearch webfetch websearch web_fetch google_web_search webSearch fetch web_search"
    " codesearch",
    "plan": "TodoWrite TodoRead todowrite todoread todo_write update_plan plan Task Agent task think"
    " EnterPlanMode BashOutput TaskOutput TaskCreate TaskGet TaskList TaskUpdate SendMessage write_todos report_intent"
    " collabAgentToolCall sleep",
}
"""Tools of Claude Code, Codex, OpenCode, Gemini, Copilot and of the rehearsal agent, and the kinds of ACP calls."""
_KIND_OF = {tool: kind for kind, tools in _TOOLS.items() for tool in tools.split()}
HUB_TOOLS = split_words(
    "bus_connect bus_get_config msg_post msg_wait msg_list msg_get msg_search msg_edit msg_edit_history msg_react"
    " msg_unreact msg_receipts mail_send mail_wait thread_create thread_list thread_get thread_delete thread_close"
    " thread_archive thread_set_state thread_settings_get thread_settings_update thread_wait_state_get close_meeting"
    " agent_register agent_heartbeat agent_resume agent_unregister agent_list agent_update agent_set_typing"
    " agent_invite template_list template_get template_create spawn_agent run_status run_cancel profile_list"
    " profile_put profile_delete ask_question task_finish work_report permission_request workflow_list workflow_start"
    " workflow_status workflow_control"
)
"""The hub's own tools, each by its name: a server of a project's own can bear a name that begins as the hub's does."""

COMMAND_ARGUMENTS = ("command", "cmd", "script", "commandLine", "command_line")
PATH_ARGUMENTS = split_words(
    "file_path path notebook_path filePath absolute_path file filename paths files target_file dir directory folder"
    " dir_path root cwd destination source target old_path new_path workdir grantRoot include_directories"
    " working_directory workingDirectory working_dir workspace base_dir basedir base_path"
)
DIRECTORY_ARGUMENTS = split_words("cwd workdir directory dir_path working_directory workingDirectory working_dir")
EDITOR_WORDS = split_words("view create str_replace insert undo_edit delete rename")
"""What stands for a command with tools that edit files."""
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

GUARDED = re.compile(
    r"(^|/)(\.git|\.hg|\.svn|\.claude|\.codex|\.gemini|\.opencode|\.cursor|\.copilot|\.vscode|\.idea|\.devcontainer|\.husky|\.cargo"
    r"|\.windsurf|\.continue|\.direnv|\.agents|\.clinerules|\.roo|\.zed)(/|$)"
    r"|(^|/)\.github/(workflows|actions|hooks|instructions|prompts|skills|agents|copilot-instructions\.md)(/|$)"
    r"|(^|/)(\.mcp\.json|\.envrc|\.npmrc|\.yarnrc(\.yml)?|\.pypirc|\.gitattributes|\.gitmodules|\.gitconfig"
    r"|\.bashrc|\.bash_(profile|login|aliases)|\.z?profile|\.zshrc|\.zshenv|\.zlogin|\.(vim|ex|lldb|gdb|tmux)\.?(rc|init|conf)"
    r"|\.cursorrules|opencode\.jsonc?|CLAUDE(\.local)?\.md|AGENTS(\.override)?\.md|GEMINI\.md|\.pre-commit-config\.yaml"
    r"|\.aider\.conf\.yml|\.pnpmfile\.cjs|\.?mise\.toml|\.gitlab-ci\.yml"
    r"|policy\.toml|authorized_keys)$",
    re.IGNORECASE,
)
"""Files that change what programs and agents may do: to write them is never quiet."""
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


def get_tool_kind(tool: str) -> str:
    """What a tool does, by its name; `other` when it is not known."""
    if tool.startswith(HUB_PREFIX) and tool.removeprefix(HUB_PREFIX) in HUB_TOOLS:
        return "hub"
    return _KIND_OF.get(tool, "other")


def describe_danger(words: tuple[str | None, ...], program: str) -> str:
    """What is worth a warning about a command; empty for nothing."""
    if program in _DANGEROUS:
        return f"`{program}` can do lasting harm"
    if program in _NETWORK:
        return f"`{program}` can reach the network"
    if program == "git" and any(word in _GIT_NETWORK for word in words[1:]):
        return "git reaches the network"
    if program in _INTERPRETERS and any(
        word and re.match(r"-[a-zA-Z]*[ceE]$|--eval|-i$|--in-place", word) for word in words[1:]
    ):
        return f"`{program}` runs code that is given in its words"
    return ""


def takes_commands(program: str) -> bool:
    """Whether a program with other words can do anything at all, or lasting harm, or reach the network."""
    return program in _DANGEROUS | _NETWORK | _INTERPRETERS or program == "git"


def is_network(program: str, words: tuple[str | None, ...]) -> bool:
    """Whether a command is made to reach the network."""
    return program in _NETWORK or (program == "git" and any(word in _GIT_NETWORK for word in words[1:]))
