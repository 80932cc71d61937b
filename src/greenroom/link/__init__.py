"""What the hub and its nodes both know: frames, digests, profiles, and facts about tool calls."""
