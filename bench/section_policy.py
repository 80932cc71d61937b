"""How many calls a second the policy judges, with few rules and with many, and after a long history."""

import asyncio
import re
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.report import Goal, Row, compare_rates
from bench.run import Bench
from greenroom.app import open_hub
from greenroom.ids import new_id
from greenroom.link.policy_facts.call_request import CallRequest, LineageEntry
from greenroom.rules.access.model import HUB
from greenroom.rules.policy.commands import JudgeCall, LoadRules
from greenroom.rules.policy.judge import judge
from greenroom.rules.policy.model import Options, Rule
from greenroom.services.hub import Hub
from greenroom.settings import Settings

RULES = 500
HISTORY = 5000
MEASURED_S = 2.0
_COMMANDS = ("git status", "npm test", "ls -la src | head -5", "curl https://a.example/x", "make check && git diff")


def measure_policy(bench: Bench) -> list[Row]:
    """Verdicts a second, in one process, on a real database; against looking through as many bare patterns."""
    bench.say("policy: judging")
    rates = asyncio.run(_measure(bench))
    bench.measured["policy"] = rates
    many = f"policy verdicts, {RULES} rules"
    return [
        compare_rates(many, rates["many"], "bare patterns", rates["patterns"]),
        compare_rates(
            f"{many}, {HISTORY} judged before", rates["late"], "none judged", rates["many"], Goal(at_least=0.5)
        ),
        compare_rates("policy verdicts, no rules", rates["none"], f"{RULES} rules", rates["many"]),
    ]


async def _measure(bench: Bench) -> dict[str, float]:
    calls = [_call(number) for number in range(200)]
    with tempfile.TemporaryDirectory() as folder:
        async with open_hub(Path(folder), Settings(local_node=False)) as hub:
            rates = {"none": _rate(hub, calls)}
            rules = [(f"rule-{number}", _rule(number)) for number in range(RULES)]
            await hub.log.do(LoadRules(by=HUB, rules=rules, options=Options(loop_times=100_000)))
            rates["many"] = _rate(hub, calls)
            for start in range(0, HISTORY, 250):
                many = [
                    JudgeCall(by=HUB, judgement_id=new_id("jdg"), wanted=calls[n % 200])
                    for n in range(start, start + 250)
                ]
                await asyncio.gather(*(hub.log.do(command) for command in many))
            rates["late"] = _rate(hub, calls)
    patterns = [re.compile(f"tool-{number}.*") for number in range(RULES)]
    rates["patterns"] = _repeat(lambda: [pattern.fullmatch("Bash") for pattern in patterns])
    return rates


def _rate(hub: Hub, calls: list[CallRequest]) -> float:
    now = hub.log.clock.now()
    numbers = iter(range(10**9))
    return _repeat(lambda: judge(hub.rows, calls[next(numbers) % len(calls)], now))


def _repeat(work: Any) -> float:
    work()
    count, start = 0, perf_counter()
    while perf_counter() - start < MEASURED_S:
        work()
        count += 1
    return count / (perf_counter() - start)


def _call(number: int) -> CallRequest:
    line = [
        LineageEntry(profile="reviewer", depth=1, run=f"run_{number % 20}"),
        LineageEntry(profile="lead", run="run_root"),
    ]
    if number % 2:
        arguments: dict[str, Any] = {"command": _COMMANDS[number % len(_COMMANDS)]}
        return CallRequest(tool="Bash", arguments=arguments, directory="/home/you/project", lineage=line)
    return CallRequest(
        tool="Edit", arguments={"file_path": f"src/a{number}.py"}, directory="/home/you/project", lineage=line
    )


def _rule(number: int) -> Rule:
    """Rules as they come: most about commands, files, hosts and tools, and one in twenty with a condition."""
    if number % 20 == 19:
        return Rule(decision="deny", profiles=["reviewer"], when=f'depth > 3 && tool == "tool-{number}"')
    match number % 4:
        case 0:
            return Rule(decision="deny", kinds=["execute"], commands=[f"program-{number} **"])
        case 1:
            return Rule(decision="allow", kinds=["write"], paths=[f"docs/{number}/**"])
        case 2:
            return Rule(decision="ask", hosts=[f"*.host-{number}.example"])
        case _:
            return Rule(decision="deny", tools=[f"tool-{number}*"])
