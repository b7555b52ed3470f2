/** A connection through a proxy: the proxy is asked for it, and then passes on all bytes. */

import type { Socket } from "node:net";
import type { EnvironmentProxy } from "./environment-proxy.ts";

/** More than the head of any sensible answer. */
const HEAD_BYTES_MAX = 16_384;
const HEAD_END = "\r\n\r\n";

/**
 * Asks a proxy to connect to an address.
 *
 * @param address a valid `host:port`.
 * @param socket a connection to the proxy; it is destroyed if the proxy refuses.
 * @returns the same socket. What the other side has sent already can be read from it.
 */
export function openTunnel(proxy: EnvironmentProxy, address: string, socket: Socket): Promise<Socket> {
  const { authorization } = proxy;
  const credentials = authorization === undefined ? "" : `Proxy-Authorization: ${authorization}\r\n`;
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0);
    const stop = () => {
      socket.off("readable", onReadable).off("error", fail).off("close", onClose);
    };
    const fail = (error: Error) => {
      stop();
      socket.destroy();
      reject(error);
    };
    const onClose = () => fail(new Error("the proxy closed the connection"));
    const onReadable = () => {
      head = Buffer.concat([head, socket.read() ?? Buffer.alloc(0)]);
      const end = head.indexOf(HEAD_END);
      if (end < 0 && head.length <= HEAD_BYTES_MAX) {
        return;
      }
      const status = /^HTTP\/1\.[01] ([0-9]{3})/.exec(head.toString("latin1"))?.[1];
      if (end < 0 || status === undefined) {
        return fail(new Error("the proxy answered with another protocol"));
      }
      if (!status.startsWith("2")) {
        return fail(new Error(`the proxy answered with status ${status}`));
      }
      stop();
      const rest = head.subarray(end + HEAD_END.length);
      if (rest.length > 0) {
        socket.unshift(rest);
      }
      resolve(socket);
    };
    socket.on("readable", onReadable).on("error", fail).on("close", onClose);
    socket.write(`CONNECT ${address} HTTP/1.1\r\nHost: ${address}\r\n${credentials}\r\n`);
  });
}
