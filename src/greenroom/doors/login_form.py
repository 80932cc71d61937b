"""The login form, rendered by the hub in the language that the browser prefers."""

import html
from typing import Literal

from starlette.requests import Request
from starlette.responses import HTMLResponse

Problem = Literal["bad_code", "too_many"]
_WORDS = {
    "en": {
        "about": "The control room for your coding agents.",
        "code": "One-time code",
        "enter": "Log in",
        "hint": "To get a code, run <code>greenroom token login</code> on the hub's machine. If you are logged in on"
        " another device, you can also open Access there and pair this one.",
        "bad_code": "This code was already used or has expired. Get a new one with: greenroom token login",
        "too_many": "Too many wrong codes. Wait a moment and try again.",
    },
    "zh-CN": {
        "about": "编程智能体的控制室。",
        "code": "一次性登录码",
        "enter": "登录",
        "hint": "在中枢所在的机器上运行 <code>greenroom token login</code> 即可获取登录码。"
        "如果你已在另一台设备上登录，也可以在那里打开「访问权限」来配对此设备。",
        "bad_code": "此登录码已用过或已过期。请重新获取：greenroom token login",
        "too_many": "错误次数过多，请稍后再试。",
    },
}


def build_login_page(
    request: Request, code: str, wanted: str, problem: Problem | None = None, status: int = 200
) -> HTMLResponse:
    """A form that works without scripts. It holds every language and shows one, so that the script beside it can show
    the language that somebody chose on the page; it also continues at once for whoever is logged in already."""
    language = choose_language(request.headers.get("accept-language", ""))

    def say(name: str) -> str:
        return "".join(
            f"<span lang='{one}'{'' if one == language else ' hidden'}>{words[name]}</span>"
            for one, words in _WORDS.items()
        )

    note = f"<p role='alert'>{say(problem)}</p>" if problem else ""
    return HTMLResponse(
        f"<!doctype html><html lang='{language}'><head><meta charset='utf-8'><title>Greenroom</title>"
        "<meta name='viewport' content='width=device-width'><link rel='icon' href='/icon.svg'>"
        "<link rel='stylesheet' href='/login.css'><script src='/login.js' defer></script></head>"
        f"<body><main><h1>Greenroom</h1><p>{say('about')}</p>"
        f"{note}<form method='post' action='/login'>"
        f"<input type='hidden' name='next' value='{html.escape(wanted, quote=True)}'>"
        f"<label for='code'>{say('code')}</label><input id='code' name='code' autocomplete='off' autofocus required "
        f"spellcheck='false' value='{html.escape(code, quote=True)}'><button>{say('enter')}</button></form>"
        f"<p class='hint'>{say('hint')}</p>"
        "</main></body></html>",
        status_code=status,
        headers={"referrer-policy": "same-origin"},  # with none at all a browser hides the origin of the form
    )


def choose_language(accepted: str) -> str:
    """Of the languages that the form has, the one that an Accept-Language header prefers."""
    ranked = []
    for part in accepted.split(","):
        tag, _, weight = part.partition(";")
        try:
            quality = float(weight.strip().removeprefix("q=") or 1)
        except ValueError:
            quality = 0.0
        found = {"en": "en", "zh": "zh-CN"}.get(tag.strip().lower().partition("-")[0])
        if found is not None and quality > 0:
            ranked.append((quality, found))
    return max(ranked, key=lambda one: one[0], default=(0.0, "en"))[1]
