"""What a system needs before its first step."""
