/**
 * Founds a cluster from a backup in an empty directory: creates the restored data beside the existing files, puts it in
 * place, and starts the member as usual.
 *
 * A failure before the decision leaves the directory empty, and the caller can try again. After a crash behind the
 * decision the next start completes the rest.
 */

import { invariant } from "../../primitives/index.ts";
import { openLog } from "../log/index.ts";
import { catchDamage, placeSuccessor, Restoration, withSuccessionLock } from "../recovery/index.ts";
import type { MemberData } from "./member-data.ts";
import type { EmptyDirectory } from "./member-initialization.ts";
import { type Closable, startMember } from "./member-start.ts";

/** Fills the restoration, and completes it. */
export type FillRestoration = (restoration: Restoration) => Promise<unknown>;

/** Raises what `fill` raises, Refused, a StoreError, or what the file system raises. */
export async function foundFromBackup(empty: EmptyDirectory, fill: FillRestoration): Promise<MemberData> {
  const { directory, log: unused, stateCacheBytes, segmentBytes, onFatal } = empty;
  const identity = await withSuccessionLock(directory, async () => {
    const restoration = await Restoration.beginUnused(directory, empty.identity);
    try {
      await fill(restoration);
    } catch (error) {
      await restoration.abandon();
      throw error;
    }
    await unused.close();
    return placeSuccessor(directory);
  });
  invariant(identity.incarnation === empty.identity.incarnation, "the founder keeps its incarnation");
  const start = { directory, identity, soleVoterWithoutMirror: null, stateCacheBytes, segmentBytes, onFatal };
  const opened: Closable[] = [];
  try {
    const log = await catchDamage(() => openLog(directory, false));
    opened.push(...(log.value === null ? [] : [log.value]));
    return await startMember(start, log, opened);
  } catch (error) {
    for (const store of opened.reverse()) {
      await store.close();
    }
    throw error;
  }
}
