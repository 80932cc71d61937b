"""What hub and node share: frames, digests, profiles, and facts about tool calls."""
