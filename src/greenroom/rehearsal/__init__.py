"""A scripted agent that speaks ACP in its own process: its prompt is its script, one directive a line.

    # text                   what it is about, for people; nothing is done
    SAY text                 say it
    THINK text               think it aloud
    SLEEP seconds            wait; a cancel ends it
    SHELL command            ask for permission, then run it in a shell
    WRITE path text          ask for permission, then write the file
    EDIT path old => new     ask for permission, then put one text for another in the file
    TOOL name {json}         call a tool of the hub
    ASK question             ask a person, and wait for the answer
    POST thread text         post in a thread, given by its id or its topic
    SPAWN profile prompt     start another agent
    OUTPUT {json}            give structured output at the end of the turn
    USAGE in out usd         say that the turn used so many tokens more, and what they cost
    RECALL                   say the first prompt of the session and how many there were
    QUOTA seconds            end the turn as one whose account is used up for so long
    FAIL text                end the turn with an error
    CRASH                    end the process at once
    HANG                     never answer, not even a cancel

Any other line is said as it is. A prompt without any directive is answered with what the agent can do, but for a step
of a workflow, where it is said back. Called into a thread, the agent posts there what it has said, unless the script
posts something itself. In texts `\\n` is a new line, and `{{name}}` stands for a value of that name in the newest
result that has one: of a tool, `answer` of ASK, `output` of SHELL. It starts quickly because it imports little, and
nothing else of Greenroom.

The session is remembered in a file, line by line. A process that resumes a task repeats no finished line. It says again
what was said since the last call, so that its answer is whole, and takes up the line that was under way:

    SHELL                    runs again from its beginning, unless the command itself had ended: then its end counts
    WRITE, EDIT              puts the text in place that was settled the first time: once, however often
    POST                     the hub takes it once
    SPAWN                    finds the agent that it has started; one whose node went down is started again
    TOOL, ASK, SLEEP         again from its beginning: at least once
    QUOTA                    goes on with the next line
"""
