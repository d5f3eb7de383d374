"""What a package adds to impulsar by entry points: see pyproject.toml beside it."""
