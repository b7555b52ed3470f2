/** The ports of the members on this machine, and a check whether they are free. */

import { randomInt } from "node:crypto";
import { createServer } from "node:net";

export interface MemberPorts {
  readonly grpc: number;
  readonly http: number;
  readonly peer: number;
  readonly admin: number;
  readonly health: number;
}

/** Every local process listens only here. */
export const LOCAL_HOST = "127.0.0.1";
/** The launcher starts at most this many members. */
export const MEMBERS_MAX = 5;
/** Distance between the first ports of two consecutive members. */
export const PORTS_PER_MEMBER = 10;
const PORT_MAX = 65_535;
/** A range that few programs use by default. */
export const STABLE_PORT_MIN = 12_000;
/** Linux uses ports for outgoing connections from 32768 on, other systems use higher ones. */
export const STABLE_PORT_MAX = 32_000;
const TRIES_MAX = 200;
/** Maximum of the first port of the first member: all other ports are above it. */
export const BASE_PORT_MAX = PORT_MAX - MEMBERS_MAX * PORTS_PER_MEMBER;

/** The ports of a member, counted from 0, in the documented order. */
export function portsOf(basePort: number, at: number): MemberPorts {
  const first = basePort + at * PORTS_PER_MEMBER;
  return { grpc: first, http: first + 1, peer: first + 2, admin: first + 3, health: first + 4 };
}

/** The address that a client dials. */
export function addressOf(port: number): string {
  return `${LOCAL_HOST}:${port}`;
}

/** Another process listens on a port. */
export class PortInUseError extends Error {}

/**
 * Raises PortInUseError with port and purpose unless all ports are free.
 *
 * @param advice the next step for the user.
 */
export async function requireFree(ports: MemberPorts, advice: string): Promise<void> {
  for (const [use, port] of Object.entries(ports)) {
    if (!(await isFree(port))) {
      throw new PortInUseError(`port ${port} (${use}) of ${LOCAL_HOST} is in use; ${advice}`);
    }
  }
}

/**
 * Returns a base port for which all ports of the maximum number of members were free a moment ago.
 *
 * They lie below the range that systems use for outgoing connections and for port 0. In that range, another connection
 * could take the port before the member starts, or while the member is down. Then another member that looks for it
 * there could even meet itself.
 */
export async function freeBasePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const base = randomInt(STABLE_PORT_MIN, STABLE_PORT_MAX - MEMBERS_MAX * PORTS_PER_MEMBER);
    const ports = Array.from({ length: MEMBERS_MAX }, (_, at) => Object.values(portsOf(base, at))).flat();
    if ((await Promise.all(ports.map(isFree))).every((free) => free)) {
      return base;
    }
  }
  throw new Error(`no free ports for ${MEMBERS_MAX} members after ${TRIES_MAX} tries`);
}

/** Whether nothing listens on the port of this machine now. */
export function isFree(port: number): Promise<boolean> {
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
