"""A model that does what the prompt says, so that tests can run real agent CLIs without an account.

It speaks the four dialects of today's CLIs on a loopback port and is stateless: it plays the script in the last user
message over the tool results that follow it, so the same request always gets the same answer. One directive per line;
other lines are ignored. A directive that calls a tool is a step, a text ends the turn:

    USE_TOOL bash <command>      call the client's shell tool, whatever its name (`bash!`: outside Codex's sandbox)
    USE_TOOL write <path> <text> call the client's tool that writes files
    USE_TOOL <name> <json>       call a tool; `msg_post` finds mcp__hub__msg_post as well
    FORCE_TOOL <name> <json>     call a tool though the client did not offer it
    REPEAT <n> [<field>]         do the lines up to END n times; or until n of their results had that field
    END                          end the innermost REPEAT
    SAY <text>                   answer with the text
    OUTPUT <json>                answer with the JSON, as a rehearsal agent gives it as structured output
    SLOW <n> [<seconds>]         answer with n words, one each 0.2 (or so many) seconds
    RECALL                       answer with the number of user messages and the first of them
    TOOLS                        answer with the names of the tools offered
    SYSTEM <regex>               answer with the first match in the system prompt
    QUOTA <seconds>              answer as for an account that is used up for so long
    TOO_LONG                     answer that the request is longer than the model can read
    ERROR <status>               answer with an HTTP error

`{{name}}` in a tool's arguments or in SAY stands for the value called `name` in the newest tool result that has one:
`"{{current_seq}}"` alone keeps its type (a number stays one), inside a longer string it becomes text. `{{round}}` is
the round of the innermost REPEAT, from 1. So two agents talk ten rounds, however often a post is refused, by

    USE_TOOL bus_connect {"thread_name": "stage", "ide": "Claude", "model": "fake"}
    REPEAT 10 msg_id
      USE_TOOL msg_wait {"thread_id": "{{thread_id}}", "after_seq": "{{current_seq}}", "agent_id": "{{agent_id}}"}
      USE_TOOL msg_post {"thread_id": "{{thread_id}}", "author": "{{agent_id}}", "content": "round {{round}}",
                         ... on one line ... "expected_last_seq": "{{current_seq}}", "reply_token": "{{reply_token}}"}
    END

Every answer costs 1000 tokens in and 50 out, so that a client's account can be checked.
"""

from greenroom.testing.fake_llm.server import FakeModel

__all__ = ["FakeModel"]
