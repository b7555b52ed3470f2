/**
 * Ports that a member keeps over its restarts, because the others know it by them.
 *
 * They lie below the range from which systems take ports for outgoing connections: a port of that range could belong to
 * somebody's connection when the member comes back for it.
 */

import { randomInt } from "node:crypto";
import { isFree, type MemberPorts, portsOf, STABLE_PORT_MAX, STABLE_PORT_MIN } from "../../local/index.ts";

const ROW = 5;
const TRIES_MAX = 200;

/** Rows that this process has given out. */
const taken = new Set<number>();

/** A row of ports where nothing listens now, and which this process gives to nobody else. */
export async function stablePorts(): Promise<MemberPorts> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const first = STABLE_PORT_MIN + ROW * randomInt((STABLE_PORT_MAX - STABLE_PORT_MIN) / ROW);
    const row = Array.from({ length: ROW }, (_, at) => first + at);
    if (!taken.has(first) && (await Promise.all(row.map(isFree))).every((free) => free)) {
      taken.add(first);
      return portsOf(first, 0);
    }
  }
  throw new Error(`no ${ROW} free ports in a row after ${TRIES_MAX} tries`);
}
