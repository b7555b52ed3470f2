/**
 * Ports that a member keeps over its restarts, because the others know it by them.
 *
 * They are below the range from which systems take ports for outgoing connections. A port of that range could belong to
 * another connection when the member needs it again.
 */

import { randomInt } from "node:crypto";
import { isFree, type MemberPorts, portsOf, STABLE_PORT_MAX, STABLE_PORT_MIN } from "../../local/index.ts";

const ROW = 5;
const TRIES_MAX = 200;

/** Port ranges that this process has given out. */
const taken = new Set<number>();

/** Consecutive ports that are free now, and that this process gives to no other member. */
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
