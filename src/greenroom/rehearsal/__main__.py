"""`python -m greenroom.rehearsal`: the scripted agent on its standard input and output."""

from greenroom.rehearsal.agent import RehearsalAgent

if __name__ == "__main__":
    RehearsalAgent().serve()
