/**
 * Ports that a member keeps over its restarts, because the others know it by them.
 *
 * They are below the range from which systems take ports for outgoing connections. A port of that range could belong to
 * another connection when the member needs it again.
 *
 * Test processes that run at the same time never get the same ports. A free port alone proves nothing, because a member
 * listens only after its start and not while it is down. So this process listens on one more port for each member, and
 * thereby claims the ports below it until it ends.
 */

import { randomInt } from "node:crypto";
import { createServer, type Server } from "node:net";
import { isFree, LOCAL_HOST, type MemberPorts, portsOf, STABLE_PORT_MAX, STABLE_PORT_MIN } from "../../local/index.ts";

/** Ports of a member, and the port that claims them. */
const ROW = Object.keys(portsOf(0, 0)).length + 1;
const ROWS = Math.floor((STABLE_PORT_MAX - STABLE_PORT_MIN) / ROW);
const TRIES_MAX = 200;

/** Consecutive ports that are free now, and that no test process gives to another member. */
export async function stablePorts(): Promise<MemberPorts> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const ports = portsOf(STABLE_PORT_MIN + ROW * randomInt(ROWS), 0);
    const claim = await claimOf(ports);
    if (claim !== null) {
      if ((await Promise.all(Object.values(ports).map(isFree))).every((free) => free)) {
        return ports;
      }
      claim.close();
    }
  }
  throw new Error(`no ${ROW} free ports in a row after ${TRIES_MAX} tries`);
}

/** The port whose listener claims the ports of a member. */
export function claimPortOf(ports: MemberPorts): number {
  return Math.max(...Object.values(ports)) + 1;
}

/** Listens until this process ends, without keeping it alive. Returns null if another process has claimed the ports. */
function claimOf(ports: MemberPorts): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const claim = createServer((socket) => socket.destroy()).unref();
    claim.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") {
        resolve(null);
      } else {
        reject(error);
      }
    });
    claim.listen(claimPortOf(ports), LOCAL_HOST, () => resolve(claim));
  });
}
