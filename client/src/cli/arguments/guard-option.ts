/** The options `--guard` and `--rw-guard` of writes: LOCK=TOKEN, a hold that must be live. */

import { InvalidArgumentError, Option } from "commander";
import type { Guard } from "../../index.ts";
import { parsePositiveCount } from "../text/index.ts";

/** The options as given. */
export interface GuardOptions {
  readonly guard?: Guard;
  readonly rwGuard?: Guard;
}

/** The option for exclusive locks. */
export function guardOption(): Option {
  const description = "write only while this hold of a lock in the namespace is live";
  return new Option("--guard <LOCK=TOKEN>", description).argParser(parseGuard).conflicts("rwGuard");
}

/** The option for read-write locks. */
export function rwGuardOption(): Option {
  const description = "write only while this hold of a read-write lock in the namespace is live, in mode WRITE";
  return new Option("--rw-guard <LOCK=TOKEN>", description).argParser(parseGuard);
}

/** The guard of a write; undefined = none. */
export function guardOf({ guard, rwGuard }: GuardOptions): Guard | undefined {
  return rwGuard === undefined ? guard : { ...rwGuard, rw: true };
}

/** Splits at the last equals sign: the name of a lock may have others. */
function parseGuard(text: string): Guard {
  const equals = text.lastIndexOf("=");
  if (equals < 1) {
    throw new InvalidArgumentError("Give a lock and the token of its hold, as in LOCK=TOKEN.");
  }
  return { lockName: text.slice(0, equals), fencingToken: parsePositiveCount(text.slice(equals + 1)) };
}
