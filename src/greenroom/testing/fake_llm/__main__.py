"""`python -m greenroom.testing.fake_llm`: runs the fake model by hand."""

import argparse
import time
from pathlib import Path

from greenroom.testing.fake_llm.server import FakeModel


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m greenroom.testing.fake_llm", description="A scripted model.")
    parser.add_argument("--port", type=int, default=8900)
    parser.add_argument("--bodies", type=Path, help="a directory to which every request is written")
    args = parser.parse_args()
    if args.bodies is not None:
        args.bodies.mkdir(parents=True, exist_ok=True)
    with FakeModel(args.port, args.bodies) as model:
        print(f"fake model at {model.url}", flush=True)
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    main()
