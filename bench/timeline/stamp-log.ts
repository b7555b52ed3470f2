/** The stamps of one process, of all its threads, and searches in them. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Stamp, StampName } from "@quoin/node/local";

export interface TimedStamp extends Stamp {
  /** On the clock that all processes of the machine share, in nanoseconds. */
  readonly atNs: number;
}

/** A required stamp of a write is missing, or out of order. */
export class TimelineError extends Error {}

type Matches = (stamp: TimedStamp) => boolean;

const FILE = /^([0-9]+)-[0-9]+\.jsonl$/;
const all: Matches = () => true;

export class StampLog {
  /** By name, in the order of time. */
  readonly #stamps = new Map<StampName, TimedStamp[]>();
  /** The name of the process in errors. */
  readonly #process: string;

  constructor(process: string, stamps: readonly TimedStamp[]) {
    this.#process = process;
    for (const stamp of [...stamps].sort((one, other) => one.atNs - other.atNs)) {
      const named = this.#stamps.get(stamp.name) ?? [];
      named.push(stamp);
      this.#stamps.set(stamp.name, named);
    }
  }

  /** The first such stamp at that time or later; null if there is none. */
  find(name: StampName, fromNs: number, matches: Matches = all): TimedStamp | null {
    const named = this.#stamps.get(name) ?? [];
    for (let at = countBelow(named, fromNs); at < named.length; at++) {
      const stamp = named[at] as TimedStamp;
      if (matches(stamp)) {
        return stamp;
      }
    }
    return null;
  }

  /** The same. Raises a TimelineError if there is none. */
  first(name: StampName, fromNs: number, matches: Matches = all): TimedStamp {
    return this.find(name, fromNs, matches) ?? this.#missing(name, "after", fromNs);
  }

  /** The last such stamp at that time or earlier. Raises a TimelineError if there is none. */
  last(name: StampName, untilNs: number, matches: Matches = all): TimedStamp {
    const named = this.#stamps.get(name) ?? [];
    for (let at = countBelow(named, untilNs + 1) - 1; at >= 0; at--) {
      const stamp = named[at] as TimedStamp;
      if (matches(stamp)) {
        return stamp;
      }
    }
    return this.#missing(name, "before", untilNs);
  }

  #missing(name: StampName, relation: string, atNs: number): never {
    throw new TimelineError(`${this.#process} has no stamp ${name} ${relation} ${atNs} ns`);
  }
}

/** The number of earlier stamps in the ascending list. */
function countBelow(stamps: readonly TimedStamp[], atNs: number): number {
  let low = 0;
  let high = stamps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((stamps[middle] as TimedStamp).atNs < atNs) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** The stamps that the probes of all threads have written into the directory, by process id. */
export function readStamps(directory: string): ReadonlyMap<number, readonly TimedStamp[]> {
  const byProcess = new Map<number, TimedStamp[]>();
  for (const file of readdirSync(directory)) {
    const pid = Number(FILE.exec(file)?.[1] ?? 0);
    const stamps = byProcess.get(pid) ?? [];
    byProcess.set(pid, stamps);
    for (const line of readFileSync(join(directory, file), "utf8").trimEnd().split("\n")) {
      const [atNs, name, first, second, third, text] = JSON.parse(line);
      stamps.push({ atNs, name, first, second, third, text });
    }
  }
  return byProcess;
}
