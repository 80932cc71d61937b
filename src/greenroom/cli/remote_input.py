"""`greenroom input`: types a text, or what another device of yours sends, into the focused window."""

import argparse
import base64
import binascii
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Mapping
from typing import Any

from greenroom.cli.client import HubClient, HubUnreachable, add_options, open_client
from greenroom.cli.terminal import count_things, escape_line, print_notice, show_json
from greenroom.errors import Refused

_WAIT_S = 25
_AGAIN_S = 3
_TYPE_S = 60
_APPLE = 'on run argv\ntell application "System Events" to keystroke (item 1 of argv)\nend run'
_WINDOWS = (
    "Add-Type -AssemblyName System.Windows.Forms; $t = [Console]::In.ReadToEnd();"
    " [System.Windows.Forms.SendKeys]::SendWait(($t -replace '([+^%~(){}\\[\\]])', '{$1}'))"
)


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "input",
        help="type text into the focused window, also from another device",
        description=(
            "Type text into the focused window of this desktop. With --follow, type what another of your "
            "devices sends, until you stop it. With --send, type on the devices that you switched on."
        ),
        epilog="example: greenroom input 'git status' · greenroom input --follow",
    )
    add_options(parser)
    parser.add_argument("text", metavar="TEXT", nargs="?", help="the text")
    parser.add_argument("--base64", metavar="TEXT", help="the text, as base64 of UTF-8")
    parser.add_argument("--follow", action="store_true", help="type what other devices send here")
    parser.add_argument("--send", action="store_true", help="type on your other devices instead")
    parser.add_argument("--code", help="with --send: the code that the other device shows")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    if args.follow:
        return type_received_texts(args)
    text = read_text(args)
    if args.send or args.code:
        body = {"text": text, **({"code": args.code} if args.code else {})}
        sent = open_client(args).post("input", body=body)
        if args.json:
            show_json(sent)
        else:
            print(f"Typed on {sent['delivered']} device(s).")
        return 0 if sent["delivered"] else 1
    program = need_typing_program()
    type_text(program, text)
    if args.json:
        show_json({"typed": len(text), "by": program})
    return 0


def read_text(args: argparse.Namespace) -> str:
    """The text to type."""
    if (args.text is None) == (args.base64 is None):
        raise Refused.in_words("text_missing", "Give a text, or its base64 with --base64, or --follow.")
    if args.text is not None:
        return str(args.text)
    try:
        return base64.b64decode(args.base64, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise Refused.in_words("bad_text", "What stands after --base64 is no base64 of UTF-8.") from None


def type_received_texts(args: argparse.Namespace) -> int:
    """Type what other devices send, until stopped; stopping switches the device off."""
    program = need_typing_program()
    client = open_client(args)
    receiver = register_receiver(client, program, args.json)
    try:
        while True:
            try:
                heard = client.get("input", "receivers", receiver["id"], timeout_s=_WAIT_S + 15, for_s=_WAIT_S)
            except HubUnreachable as error:
                print_notice(f"{escape_line(error)} It is tried again.")
                time.sleep(_AGAIN_S)
                continue
            except Refused as no:
                if no.code != "receiver_not_found":
                    raise
                receiver = register_receiver(client, program, args.json)  # the hub was away, and has forgotten it
                continue
            for text in heard["texts"]:
                type_text(program, text)
                print_notice(f"typed {count_things(len(text), 'character')}")
    finally:
        client.delete("input", "receivers", receiver["id"])


def register_receiver(client: HubClient, program: str, as_json: bool) -> dict[str, Any]:
    """Register this device as a receiver."""
    receiver: dict[str, Any] = client.post("input", "receivers", body={"name": platform.node()[:100]})
    if as_json:
        show_json(receiver)
    else:
        print_notice(f"This device types what you send to it, by {escape_line(program)}. Stop it with Ctrl-C.")
        print_notice(f"From a device with another login, send it to the code {escape_line(receiver['code'])}.")
    return receiver


def need_typing_program(env: Mapping[str, str] = os.environ, system: str = platform.system()) -> str:
    """The program that types on this desktop."""
    if system == "Darwin":
        wanted = ["osascript"]
    elif system == "Windows":
        wanted = ["powershell", "pwsh"]
    elif env.get("WAYLAND_DISPLAY"):
        wanted = ["wtype", "ydotool"]
    elif env.get("DISPLAY"):
        wanted = ["xdotool", "ydotool"]
    else:
        raise Refused.in_words("no_desktop", "No desktop is here: neither DISPLAY nor WAYLAND_DISPLAY is set.")
    for program in wanted:
        if shutil.which(program):
            return program
    raise Refused.in_words("no_typist", f"Nothing here can type into a window: install {' or '.join(wanted)}.")


def build_typing_command(program: str, text: str) -> tuple[list[str], str | None]:
    """How to pass a text to a typing program: on its stdin where possible, and never as an option."""
    match program:
        case "xdotool":
            return ["xdotool", "type", "--clearmodifiers", "--file", "-"], text
        case "wtype":
            return ["wtype", "-"], text
        case "ydotool":
            return ["ydotool", "type", "--file", "-"], text
        case "osascript":
            return ["osascript", "-e", _APPLE, "--", text], None
        case _:
            return [program, "-NoProfile", "-Command", _WINDOWS], text


def type_text(program: str, text: str) -> None:
    argv, fed = build_typing_command(program, text)
    try:
        done = subprocess.run(argv, input=fed, text=True, capture_output=True, timeout=_TYPE_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refused.in_words("not_typed", f"{program} could not type it ({error}).") from error
    if done.returncode:
        raise Refused.in_words(
            "not_typed", f"{program} could not type it: {done.stderr.strip()[:300] or done.returncode}"
        )
