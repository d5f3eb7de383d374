/**
 * Where the session is: behind the server that the page came from, or in the kernel of the notebook that shows the
 * page, to which all goes by the notebook's own line.
 */

/** As much of a WebSocket as the page uses. */
export type Socket = Pick<WebSocket, "binaryType" | "readyState" | "addEventListener" | "send" | "close">;

export interface Host {
  request(path: string, init: RequestInit): Promise<Response>;
  socket(path: string): Socket;
}

const server: Host = {
  request: (path, init) => fetch(path, init),
  socket: (path) => {
    const url = new URL(path, location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    url.search = "";
    url.hash = "";
    return new WebSocket(url);
  },
};

let host = server;

/** Have all go to another host; before the page begins. */
export function useHost(other: Host): void {
  host = other;
}

/** Ask the session's side for a path. */
export function request(path: string, init: RequestInit = {}): Promise<Response> {
  return host.request(path, init);
}

/** A line to the session's side. */
export function openSocket(path: string): Socket {
  return host.socket(path);
}
