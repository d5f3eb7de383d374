"""Models of other programs: URDF, SDF and MJCF, each read into a `Draft`, which `build` makes a Model of."""

OPTIONS = ("snap", "base", "fixed", "mend", "pose", "key", "meshes", "assets")  # of `build.Options`
