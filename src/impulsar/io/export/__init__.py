"""Models and runs in the forms of others: one file a format; `impulsar/exports.py` is the door."""
