/** The page in a notebook: the widget around it (src/impulsar/studio/widget.js) gives it a port to the kernel. */

import { useHost } from "./host";
import { Kernel } from "./kernel";

addEventListener("message", (event) => {
  const [port] = event.ports;
  if (event.source !== parent || !port) return;
  useHost(new Kernel(port));
  void import("./main");
});
parent.postMessage("impulsar: ready", "*");
