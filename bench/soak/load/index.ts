/** The parts of the load: one of each kind of data. */

import { GroupLoad } from "./groups.ts";
import { KeyLoad } from "./keys.ts";
import { LockLoad } from "./locks.ts";
import { LogLoad } from "./logs.ts";
import { NamespaceLoad } from "./namespaces.ts";
import type { Part, PartContext } from "./part.ts";
import { RegionLoad } from "./regions.ts";
import { SessionLoad } from "./sessions.ts";
import { WatchLoad } from "./watches.ts";

export type { Part } from "./part.ts";

export function partsOf(context: PartContext): readonly Part[] {
  const kinds = [KeyLoad, GroupLoad, LockLoad, SessionLoad, WatchLoad, LogLoad, RegionLoad, NamespaceLoad];
  return kinds.map((Kind) => new Kind(context));
}
