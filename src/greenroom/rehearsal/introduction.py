"""What the agent answers to a prompt that is not a script: what it is, and what to write instead."""

import re

_WIDE = re.compile(r"[\u3400-\u9fff]")
_ENGLISH = """\
Hello! I am the rehearsal agent. I need no model and no key: I follow a script, one line for each step. {how}

- `SAY hello` — I say it
- `SHELL mkdir demo` — I ask for permission, then run it
- `WRITE notes.txt hello` — I ask for permission, then write the file
- `ASK Tea or coffee?` — I ask you, and wait for your answer
- `SLEEP 5` — I take my time

I also know {more}."""
_CHINESE = """\
你好！我是彩排智能体，不需要模型，也不需要密钥：我按脚本行事，每行一步。{how}

- `SAY 你好` — 我照着说
- `SHELL mkdir demo` — 先请求许可，然后运行
- `WRITE notes.txt 你好` — 先请求许可，然后写入文件
- `ASK 茶还是咖啡？` — 向你提问并等待回答
- `SLEEP 5` — 等待几秒

我还会 {more}。"""
_HOW = {
    ("en", True): "Mention me and write one of these after my name, or several on lines of their own:",
    ("en", False): "Give me a prompt such as one of these, or several on lines of their own:",
    ("zh", True): "提及我，并在我的名字后面写下面任意一行，或另起几行写多条：",
    ("zh", False): "给我下面任意一行作为提示词，或写多行：",
}
_SHOWN = ("SAY", "SHELL", "WRITE", "ASK", "SLEEP")


def build_introduction(prompt: str, directives: tuple[str, ...], *, in_thread: bool) -> str:
    """The introduction, in Chinese if the prompt is Chinese."""
    language = "zh" if _WIDE.search(prompt) else "en"
    more = ", ".join(f"`{one}`" for one in directives if one not in _SHOWN)
    return (_CHINESE if language == "zh" else _ENGLISH).format(how=_HOW[language, in_thread], more=more)
