"""`python -m greenroom.demo.console`: a terminal program for the demo, with tests and a prompt."""

import time

_TESTS = (("log", 24), ("nouns", 61), ("doors", 48), ("runs", 33), ("workflows", 36), ("page", 12))
_WIDTH = 30
_STEP_S = 0.04
GREEN, GREY, BOLD, PLAIN = "\x1b[32m", "\x1b[90m", "\x1b[1m", "\x1b[0m"


def run_tests() -> None:
    """Draw tests that pass, folder by folder."""
    print(f"{BOLD}greenroom 1.4.0{PLAIN}  {GREY}the tests, with the new limits{PLAIN}\n")
    for folder, count in _TESTS:
        for done in range(_WIDTH + 1):
            bar = "█" * done + f"{GREY}{'░' * (_WIDTH - done)}{PLAIN}"
            print(f"\r  {folder:<10} {GREEN}{bar} {count * done // _WIDTH:>5}", end="", flush=True)
            time.sleep(_STEP_S)
        print(f"  {GREEN}✓{PLAIN}")
    print(f"\n  {GREEN}{sum(count for _, count in _TESTS)} passed{PLAIN}\n\nType here: the program hears you.")


def echo_input() -> None:
    """Answer input until the terminal is closed."""
    while True:
        try:
            line = input(f"{GREEN}›{PLAIN} ")
        except EOFError:
            return
        print(f"  {GREY}heard{PLAIN} {line.strip() or 'nothing'}")


if __name__ == "__main__":
    run_tests()
    echo_input()
