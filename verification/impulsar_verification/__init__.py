"""Campaigns against Impulsar: fuzz, hostile files, faults, kills, long sessions. They need the repository."""
