/** The ports of the members on this machine, and whether they are free. */

import { randomInt } from "node:crypto";
import { createServer } from "node:net";

export interface MemberPorts {
  readonly grpc: number;
  readonly http: number;
  readonly peer: number;
  readonly admin: number;
  readonly health: number;
}

/** Everything local listens here and nowhere else. */
export const LOCAL_HOST = "127.0.0.1";
/** The launcher starts no more members than this. */
export const MEMBERS_MAX = 5;
/** From the first port of one member to the first of the next. */
const PORTS_PER_MEMBER = 10;
const PORT_MAX = 65_535;
/** Where nobody else is by default. */
export const STABLE_PORT_MIN = 12_000;
/** Linux takes ports for outgoing connections from 32768 on, others from higher ones. */
export const STABLE_PORT_MAX = 32_000;
const TRIES_MAX = 200;
/** The first port of the first member, at most: all others are above it. */
export const BASE_PORT_MAX = PORT_MAX - MEMBERS_MAX * PORTS_PER_MEMBER;

/** The ports of a member, counted from 0, in the order of the manual. */
export function portsOf(basePort: number, at: number): MemberPorts {
  const first = basePort + at * PORTS_PER_MEMBER;
  return { grpc: first, http: first + 1, peer: first + 2, admin: first + 3, health: first + 4 };
}

/** What a client dials. */
export function addressOf(port: number): string {
  return `${LOCAL_HOST}:${port}`;
}

/** A port that something else listens on. */
export class PortInUseError extends Error {}

/**
 * Raises PortInUseError, naming port and use, unless all of them are free.
 *
 * @param advice what to do about it.
 */
export async function requireFree(ports: MemberPorts, advice: string): Promise<void> {
  for (const [use, port] of Object.entries(ports)) {
    if (!(await isFree(port))) {
      throw new PortInUseError(`port ${port} (${use}) of ${LOCAL_HOST} is in use; ${advice}`);
    }
  }
}

/**
 * A base port with which all ports of as many members as there may be were free a moment ago.
 *
 * They lie below the range from which systems take ports for outgoing connections and for whoever listens on any port: one
 * of that range could belong to somebody's connection when the member comes for it, or, while it is away, to that of
 * another member that looks for it there and meets itself.
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
