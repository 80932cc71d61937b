"""The same workflows on several engines: each file is a program that does one job and prints what it took as JSON."""
