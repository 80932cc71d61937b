"""`python -m greenroom.rehearsal`: the scripted agent on its standard input and output."""

from greenroom.rehearsal.agent import Agent

if __name__ == "__main__":
    Agent().serve()
