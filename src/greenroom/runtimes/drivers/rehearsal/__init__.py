"""The scripted agent that ships with Greenroom, driven like any other over ACP."""
