"""One large world in the browser: a session that steps it, and frames of a capped size."""
