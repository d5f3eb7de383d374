"""Models of other programs: URDF, SDF, MJCF, USD and STEP, each read into a `Draft`, which `build` makes a Model of."""

OPTIONS = ("snap", "base", "fixed", "mend", "pose", "key", "meshes", "assets")  # of `build.Options`
CAD_OPTIONS = ("density", "parts", "base", "meshes")  # of `cad.CadOptions`
