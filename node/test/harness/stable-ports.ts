/**
 * Ports that a member keeps over its restarts, because the others know it by them.
 *
 * They lie below the range from which systems take ports for outgoing connections: a port of that range could belong to
 * somebody's connection when the member comes back for it.
 */

import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Ports of a member, in a row. */
export interface StablePorts {
  readonly grpc: number;
  readonly http: number;
  readonly peer: number;
  readonly admin: number;
  readonly health: number;
}

const LOWEST = 12_000;
/** Linux takes ports for outgoing connections from 32768 on, others from higher ones. */
const HIGHEST = 32_000;
const ROW = 5;
const TRIES_MAX = 200;

/** Rows that this process has given out. */
const taken = new Set<number>();

/** A row of ports where nothing listens now, and which this process gives to nobody else. */
export async function stablePorts(): Promise<StablePorts> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const first = LOWEST + ROW * randomInt((HIGHEST - LOWEST) / ROW);
    const row = Array.from({ length: ROW }, (_, at) => first + at);
    if (!taken.has(first) && (await Promise.all(row.map(isFree))).every((free) => free)) {
      taken.add(first);
      return { grpc: first, http: first + 1, peer: first + 2, admin: first + 3, health: first + 4 };
    }
  }
  throw new Error(`no ${ROW} free ports in a row after ${TRIES_MAX} tries`);
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
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
