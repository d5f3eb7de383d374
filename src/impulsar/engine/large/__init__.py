"""One large world: a thread a part. Joints are solved directly, by eliminating them level by level."""
