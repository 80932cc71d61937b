"""What the content filter takes for a secret, and what it lets pass."""

import pytest

from greenroom.link.tokens import new_token
from greenroom.rules.access.secrets import PATTERNS
from greenroom.rules.threads.secret_filter import find_secret

_A = "Ab3" * 40
SECRETS = {
    "Greenroom token": new_token("agent").text,
    "AWS access key": "ASIA" + "ABCDEFGHIJKLMNOP",
    "GitHub token": "ghs_" + _A[:36],
    "GitLab token": "glpat-" + _A[:20],
    "Anthropic key": "sk-ant-" + "api03-" + _A[:40],
    "OpenAI key": "sk-proj-" + _A[:48],
    "Google API key": "AIza" + _A[:35],
    "Slack token": "xoxb-" + "1234567890-" + _A[:20],
    "Stripe key": "sk_live_" + _A[:24],
    "npm token": "npm_" + _A[:36],
    "Azure storage key": "AccountKey=" + _A[:86] + "==",
    "JSON web token": "eyJ" + _A[:30] + ".eyJ" + _A[:60] + "." + _A[:43],
    "private key": "-----BEGIN " + "OPENSSH PRIVATE KEY-----",
}


def test_every_kind_has_an_example() -> None:
    assert set(SECRETS) == {name for name, _ in PATTERNS}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_known_by_its_kind_in_the_midst_of_a_text(kind: str) -> None:
    assert find_secret(SECRETS[kind]) == kind
    assert find_secret(f'export KEY="{SECRETS[kind]}"\nand then run it') == kind


@pytest.mark.parametrize(
    "text",
    [
        "The risk-assessment-of-the-whole-new-installation is done, so is the task-list.",
        "Use AKIA... for the key, sk-... for the other, and eyJ... for the token.",
        "It begins with -----BEGIN PUBLIC KEY----- and is in npm_config_registry_of_the_project.",
        "AccountKey= is missing in the connection string; ghp_ too.",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b, gr_ is a prefix, xox is a game",
    ],
)
def test_what_only_looks_a_little_like_a_secret_passes(text: str) -> None:
    assert find_secret(text) is None
