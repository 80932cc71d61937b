"""The profiles that ship with Greenroom: one for each runtime that it knows."""

from greenroom.nouns.agents.profiles import ProfileDefinition

SHIPPED: dict[str, ProfileDefinition] = {
    "rehearsal": ProfileDefinition(
        driver="rehearsal",
        display_name="Rehearsal",
        description="A scripted agent that needs no key: its prompt is its script.",
        type="builtin",
        max_depth=5,
    ),
    "claude": ProfileDefinition(
        driver="claude", display_name="Claude Code", description="Anthropic's coding agent.", type="builtin"
    ),
    "codex": ProfileDefinition(
        driver="codex", display_name="Codex", description="OpenAI's coding agent.", type="builtin"
    ),
    "opencode": ProfileDefinition(
        driver="opencode", display_name="OpenCode", description="The open coding agent.", type="builtin"
    ),
    "copilot": ProfileDefinition(
        driver="copilot", display_name="GitHub Copilot CLI", description="GitHub's coding agent.", type="builtin"
    ),
    "gemini": ProfileDefinition(
        driver="gemini", display_name="Gemini CLI", description="Google's coding agent.", type="builtin"
    ),
}
