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
import {
  isFree,
  LOCAL_HOST,
  MEMBERS_MAX,
  type MemberPorts,
  PORTS_PER_MEMBER,
  portsOf,
  STABLE_PORT_MAX,
  STABLE_PORT_MIN,
} from "../../local/index.ts";

const ROWS = Math.floor((STABLE_PORT_MAX - STABLE_PORT_MIN) / PORTS_PER_MEMBER);
const TRIES_MAX = 200;

/** The ports of a member, which are free now, and which no test process gives to another member. */
export async function stablePorts(): Promise<MemberPorts> {
  return portsOf(await claimRows(1), 0);
}

/** A base port for the launcher, whose members get their ports from it. They are claimed in the same way. */
export function claimedBasePort(): Promise<number> {
  return claimRows(MEMBERS_MAX);
}

/** The port whose listener claims the ports of a member. */
export function claimPortOf({ grpc }: MemberPorts): number {
  return grpc + PORTS_PER_MEMBER - 1;
}

/** Claims the ports of this many members, and returns the first one. */
async function claimRows(count: number): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const first = STABLE_PORT_MIN + PORTS_PER_MEMBER * randomInt(ROWS - count + 1);
    const rows = Array.from({ length: count }, (_, at) => portsOf(first, at));
    const claims = await Promise.all(rows.map(claim));
    const areClaimed = !claims.includes(null);
    // A probe of a port that another process has claimed could meet the start of its member.
    if (areClaimed && (await Promise.all(rows.flatMap((row) => Object.values(row)).map(isFree))).every(Boolean)) {
      return first;
    }
    for (const claimed of claims) {
      claimed?.close();
    }
  }
  throw new Error(`no free ports for ${count} members after ${TRIES_MAX} tries`);
}

/** Listens until this process ends, without keeping it alive. Returns null if the ports are claimed already. */
function claim(ports: MemberPorts): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const claimed = createServer((socket) => socket.destroy()).unref();
    claimed.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") {
        resolve(null);
      } else {
        reject(error);
      }
    });
    claimed.listen(claimPortOf(ports), LOCAL_HOST, () => resolve(claimed));
  });
}
