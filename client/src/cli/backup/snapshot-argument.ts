/** Backups on the command line, by id: complete, or as many first digits as are unambiguous. */

import type { Catalog, Chain } from "@quoin/backup";
import { UsageError } from "../errors/index.ts";

/** Fewer digits are hardly meant as an id. */
const DIGITS_MIN = 4;

/** The snapshot and the points that it can restore; raises UsageError unless exactly one matches. */
export function selectSnapshot({ chains, clusterId }: Catalog, wanted: string): Chain {
  const found = wanted.length < DIGITS_MIN ? [] : chains.filter(({ snapshot }) => snapshot.id.startsWith(wanted));
  const [first, ...others] = found;
  if (first === undefined) {
    throw new UsageError(
      `there is no backup ${wanted} of cluster ${clusterId}`,
      `give the id as backup list shows it, or at least ${DIGITS_MIN} first digits of it`,
    );
  }
  if (others.length > 0) {
    const ids = found.map(({ snapshot }) => snapshot.id).join(", ");
    throw new UsageError(`${wanted} may be any of ${ids}`, "give more digits of the id");
  }
  return first;
}
