/** The abilities of a system that a scenario needs. Raises an error if the system lacks one. */

import type { Connection, EventLogs, Keys, Locks, Regions, Sessions } from "../clusters/index.ts";

export function keysOf({ keys }: Connection): Keys {
  return present(keys, "keys");
}

export function locksOf({ locks }: Connection): Locks {
  return present(locks, "locks");
}

export function sessionsOf({ sessions }: Connection): Sessions {
  return present(sessions, "sessions");
}

export function regionsOf({ regions }: Connection): Regions {
  return present(regions, "memory regions");
}

export function logsOf({ logs }: Connection): EventLogs {
  return present(logs, "event logs");
}

function present<Ability>(ability: Ability | null, name: string): Ability {
  if (ability === null) {
    throw new Error(`this system has no ${name}`);
  }
  return ability;
}
