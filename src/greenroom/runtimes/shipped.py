"""The profiles that ship with Greenroom: one for each runtime that it knows."""

from greenroom.nouns.agents.profiles import Definition

SHIPPED: dict[str, Definition] = {
    "rehearsal": Definition(
        driver="rehearsal",
        display_name="Rehearsal",
        description="A scripted agent that needs no key: its prompt is its script.",
        type="builtin",
        max_depth=5,
    ),
    "claude": Definition(
        driver="claude", display_name="Claude Code", description="Anthropic's coding agent.", type="builtin"
    ),
    "codex": Definition(driver="codex", display_name="Codex", description="OpenAI's coding agent.", type="builtin"),
    "opencode": Definition(
        driver="opencode", display_name="OpenCode", description="The open coding agent.", type="builtin"
    ),
    "copilot": Definition(
        driver="copilot", display_name="GitHub Copilot CLI", description="GitHub's coding agent.", type="builtin"
    ),
    "gemini": Definition(
        driver="gemini", display_name="Gemini CLI", description="Google's coding agent.", type="builtin"
    ),
}
