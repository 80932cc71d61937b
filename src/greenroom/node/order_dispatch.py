"""What an order means for an agent that is there."""

from typing import assert_never

from greenroom.link import orders
from greenroom.node.agents import HeldAgent


async def pass_order_on(agent: HeldAgent, run: str, work: orders.AgentWork) -> None:
    """Have an agent carry out an order."""
    match work:
        case orders.SteerOrder():
            await agent.steer(run, work.text)
        case orders.DecideOrder():
            await agent.decide(work)
        case orders.CancelOrder():
            await agent.cancel(run)
        case orders.PauseOrder():
            await agent.pause(run)
        case orders.ResumeOrder():
            await agent.resume(run)
        case orders.FinishOrder():
            await agent.finish(run, work.text)
        case orders.EndOrder():
            await agent.close(if_idle=True)
        case _:
            assert_never(work)
