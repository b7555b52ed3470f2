/** The connections of a run: as many as real clients would have, with the same number to each member. */

import type { Connection } from "../clusters/index.ts";
import type { WorkloadContext } from "./scenario.ts";

/** Few requests share a connection, as with real clients. */
const IN_FLIGHT_PER_CONNECTION = 4;

/** The number of connections to each member for this many requests in flight. */
export function connectionsPerMember(inFlight: number, members: number): number {
  return Math.ceil(inFlight / IN_FLIGHT_PER_CONNECTION / members);
}

/** Opens the connections for this many requests in flight, to each member in turn. */
export async function connectAll(
  { cluster, members }: WorkloadContext,
  inFlight: number,
): Promise<readonly Connection[]> {
  const perMember = connectionsPerMember(inFlight, members.length);
  const connections: Connection[] = [];
  try {
    for (let count = 0; count < perMember; count++) {
      for (const member of members) {
        connections.push(await cluster.connect(member));
      }
    }
  } catch (error) {
    closeAll(connections);
    throw error;
  }
  return connections;
}

export function closeAll(connections: readonly { close(): void }[]): void {
  for (const connection of connections) {
    connection.close();
  }
}
