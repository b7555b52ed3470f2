/** The ports of one member on this machine, and whether they are free. */

import { type AddressInfo, createServer } from "node:net";

export interface MemberPorts {
  readonly grpc: number;
  readonly http: number;
  readonly peer: number;
  readonly admin: number;
  readonly health: number;
}

/** Everything local listens here and nowhere else. */
export const LOCAL_HOST = "127.0.0.1";

/** The ports of a member whose first is the given one, in the order of the manual. */
export function portsFrom(first: number): MemberPorts {
  return { grpc: first, http: first + 1, peer: first + 2, admin: first + 3, health: first + 4 };
}

/** Leaves room for the ports that follow the first. */
const BASE_PORT_MAX = 60_000;

/** A port that something else listens on. */
export class PortInUseError extends Error {}

/** Raises PortInUseError, naming port and use, unless all of them are free. */
export async function requireFree(ports: MemberPorts): Promise<void> {
  for (const [use, port] of Object.entries(ports)) {
    if (!(await isFree(port))) {
      throw new PortInUseError(
        `port ${port} (${use}) of ${LOCAL_HOST} is in use; stop what listens there, or choose others with --base-port`,
      );
    }
  }
}

/** The first of a member's ports where all of them were free a moment ago. */
export async function freeBasePort(): Promise<number> {
  for (;;) {
    const base = await anyFreePort();
    const row = Object.values(portsFrom(base));
    if (base <= BASE_PORT_MAX && (await Promise.all(row.map(isFree))).every((free) => free)) {
      return base;
    }
  }
}

function anyFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, LOCAL_HOST, () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") {
        resolve(false);
      } else {
        reject(error);
      }
    });
    probe.listen(port, LOCAL_HOST, () => probe.close(() => resolve(true)));
  });
}
