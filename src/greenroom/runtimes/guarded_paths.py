"""Files and folders that change what programs and agents may do. Writing to them always asks."""

import re

from greenroom.runtimes.agents import AGENTS

_FOLDERS = (
    r"\.git|\.hg|\.svn|\.idea|\.devcontainer|\.husky|\.cargo|\.windsurf|\.continue|\.direnv|\.agents|\.clinerules|\.roo"
    r"|\.zed|\.github/(workflows|actions|hooks|instructions|prompts|skills|agents)"
)
_FILES = (
    r"\.mcp\.json|\.envrc|\.npmrc|\.yarnrc(\.yml)?|\.pypirc|\.gitattributes|\.gitmodules|\.gitconfig|\.bashrc"
    r"|\.bash_(profile|login|aliases)|\.z?profile|\.zshrc|\.zshenv|\.zlogin|\.(vim|ex|lldb|gdb|tmux)\.?(rc|init|conf)"
    r"|AGENTS\.md|\.pre-commit-config\.yaml|\.aider\.conf\.yml|\.pnpmfile\.cjs|\.?mise\.toml|\.gitlab-ci\.yml"
    r"|policy\.toml|authorized_keys"
)
_OF_AGENTS = "|".join(re.escape(path) for agent in AGENTS for path in agent.own_paths)
GUARDED = re.compile(rf"(^|/)(({_FOLDERS}|{_OF_AGENTS})(/|$)|({_FILES})$)", re.IGNORECASE)
