"""Code for one mechanism: the step's own Warp functions run on symbols, written out as straight lines, compiled."""
