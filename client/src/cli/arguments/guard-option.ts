/**
 * The options `--guard` and `--rw-guard` of writes and appends: a hold that must be live, as LOCK=TOKEN, or for logs, which
 * are found without their namespace, as NAMESPACE/LOCK=TOKEN.
 */

import { InvalidArgumentError } from "commander";
import type { Guard, LogGuard } from "../../index.ts";
import { parsePositiveCount } from "../text/index.ts";
import { option } from "./option-form.ts";

const FORM = "LOCK=TOKEN";
const LOG_FORM = "NAMESPACE/LOCK=TOKEN";

/** The options of writes in a namespace. */
export const GUARD_OPTIONS = guardOptions(FORM, "write", " in the namespace", (text) => parseGuard(text, FORM));

/** The options of appends. */
export const LOG_GUARD_OPTIONS = guardOptions(LOG_FORM, "append", "", (text): LogGuard => {
  const { lockName: lock, fencingToken } = parseGuard(text, LOG_FORM);
  const slash = lock.indexOf("/");
  if (slash < 1 || slash === lock.length - 1) {
    throw invalid(LOG_FORM);
  }
  return { namespace: lock.slice(0, slash), lockName: lock.slice(slash + 1), fencingToken };
});

/** The options as given. */
interface Guards<Given> {
  readonly guard?: Given;
  readonly rwGuard?: Given;
}

/** The guard that one of the options gives; undefined = none. */
export function guardOf<Given extends Guard>({ guard, rwGuard }: Guards<Given>): Given | undefined {
  return rwGuard === undefined ? guard : { ...rwGuard, rw: true };
}

function guardOptions<Given extends Guard>(form: string, verb: string, where: string, parse: (text: string) => Given) {
  const hold = (lock: string) => `${verb} only while this hold of a ${lock}${where} is live`;
  return {
    guard: option(`<${form}>`, hold("lock"), parse).without("rwGuard"),
    rwGuard: option(`<${form}>`, `${hold("read-write lock")}, in mode WRITE`, parse),
  };
}

/** Splits at the last equals sign: the name of a lock may have others. */
function parseGuard(text: string, form: string): Guard {
  const equals = text.lastIndexOf("=");
  if (equals < 1) {
    throw invalid(form);
  }
  return { lockName: text.slice(0, equals), fencingToken: parsePositiveCount(text.slice(equals + 1)) };
}

function invalid(form: string): InvalidArgumentError {
  return new InvalidArgumentError(`Give a lock and the token of its hold, as in ${form}.`);
}
