// The notebook's side of a world's view, as anywidget loads it: the studio's page in a frame, whose requests go to the
// kernel as messages. Where no kernel answers, as in a saved notebook, a picture is shown.
const PATIENCE = 10000; // for the first word of a kernel [ms]

function render({ model, el }) {
  const box = document.createElement("div");
  box.style.cssText = `position:relative;width:${model.get("width")};height:${model.get("height")}px`;
  el.append(box);
  const still = () => {
    const picture = document.createElement("img");
    picture.alt = model.get("words");
    picture.title = model.get("words");
    picture.style.cssText = "max-width:100%;max-height:100%";
    picture.src = `data:image/png;base64,${model.get("still")}`;
    box.replaceChildren(picture);
  };
  if (model.get("stopped")) {
    still();
    return;
  }
  const waiting = setTimeout(still, PATIENCE);
  const line = Math.random().toString(36).slice(2); // one model may be shown below several cells
  let port = null;
  const take = ({ to, ...head }, buffers) => {
    if (to !== line) return;
    if (head.kind === "page") show(head.text);
    else port?.postMessage({ head, data: buffers.length ? bytes(buffers[0]) : null });
  };
  const bytes = (view) => view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
  const frame = document.createElement("iframe");
  const hear = (event) => {
    if (event.source !== frame.contentWindow || event.data !== "impulsar: ready") return;
    const { port1, port2 } = new MessageChannel();
    port = port1;
    port.onmessage = ({ data: { head, data } }) => model.send({ from: line, ...head }, undefined, data ? [data] : []);
    frame.contentWindow.postMessage("impulsar: line", "*", [port2]);
  };
  const show = (text) => {
    clearTimeout(waiting);
    frame.title = model.get("words");
    frame.allow = "fullscreen";
    frame.style.cssText = "border:0;width:100%;height:100%";
    frame.srcdoc = text;
    box.replaceChildren(frame);
  };
  const end = () => {
    if (!model.get("stopped")) return;
    port?.close();
    still();
  };
  model.on("msg:custom", take);
  model.on("change:stopped", end);
  window.addEventListener("message", hear);
  model.send({ from: line, kind: "page" });
  return () => {
    clearTimeout(waiting);
    model.send({ from: line, kind: "gone" });
    model.off("msg:custom", take);
    model.off("change:stopped", end);
    window.removeEventListener("message", hear);
  };
}

export default { render };
