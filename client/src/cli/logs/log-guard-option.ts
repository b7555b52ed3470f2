/** The options `--guard` and `--rw-guard` of appends: NAMESPACE/LOCK=TOKEN, a hold that must be live. */

import { Option } from "commander";
import type { LogGuard } from "../../index.ts";
import { parseNameArgument } from "../arguments/index.ts";
import { UsageError } from "../errors/index.ts";
import { parsePositiveCount } from "../text/index.ts";

/** The options as given. */
export interface LogGuardOptions {
  readonly guard?: LogGuard;
  readonly rwGuard?: LogGuard;
}

/** Both options: for exclusive locks, and for read-write locks. */
export function logGuardOptions(): readonly Option[] {
  const form = "<NAMESPACE/LOCK=TOKEN>";
  return [
    new Option(`--guard ${form}`, "append only while this hold of a lock is live")
      .argParser(parseGuard)
      .conflicts("rwGuard"),
    new Option(
      `--rw-guard ${form}`,
      "append only while this hold of a read-write lock is live, in mode WRITE",
    ).argParser(parseGuard),
  ];
}

/** The guard of an append; undefined = none. */
export function logGuardOf({ guard, rwGuard }: LogGuardOptions): LogGuard | undefined {
  return rwGuard === undefined ? guard : { ...rwGuard, rw: true };
}

/** Splits at the last equals sign: the name of a lock may have others. */
function parseGuard(text: string): LogGuard {
  const equals = text.lastIndexOf("=");
  if (equals < 1) {
    throw new UsageError("give a lock and the token of its hold, as in NAMESPACE/LOCK=TOKEN");
  }
  const { namespace, name } = parseNameArgument(text.slice(0, equals), "lock", "LOCK");
  return { namespace, lockName: name, fencingToken: parsePositiveCount(text.slice(equals + 1)) };
}
