/** Ports for the members of a cluster of another system. */

import { freeBasePort } from "@quoin/node/local";

/** The number of consecutive free ports that freeBasePort finds. */
const PORTS_IN_A_ROW = 5;

/** For each member the first of five consecutive free ports. No two members share a port. */
export async function portsOfMembers(members: number): Promise<readonly number[]> {
  const ports: number[] = [];
  while (ports.length < members) {
    const port = await freeBasePort();
    if (ports.every((other) => Math.abs(other - port) >= PORTS_IN_A_ROW)) {
      ports.push(port);
    }
  }
  return ports;
}
