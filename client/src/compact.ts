/** The page as `world.view(compact=True)` asks for it: the picture, play, one plot and the timeline. */

import "./compact.css";

if (new URLSearchParams(location.search).has("compact")) document.body.classList.add("compact");
