/** Ports for programs that are told their ports, because they cannot listen on 0 and report back. */

import { createServer } from "node:net";

/** Ports of one member are a row of five. */
const ROW = 5;
const BASE_MAX = 60_000;

/** The first of five ports in a row that were free a moment ago. */
export async function freeBasePort(): Promise<number> {
  for (;;) {
    const base = await freePort();
    const row = Array.from({ length: ROW - 1 }, (_, at) => base + 1 + at);
    if (base < BASE_MAX && (await Promise.all(row.map(freePort))).every((port, at) => port === row[at])) {
      return base;
    }
  }
}

/** The port, or any with 0, if it is free; otherwise -1. */
function freePort(port = 0): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(-1));
    probe.listen(port, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : -1));
    });
  });
}
