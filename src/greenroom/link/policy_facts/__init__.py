"""What can be read from a tool call: commands, files, hosts, and how risky it is."""
