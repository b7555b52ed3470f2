/**
 * The start of a member from its data.
 *
 * First both stores are opened and judged, and nothing is changed. If acknowledged data is lost that others have, the
 * member is damaged (P46): the fence says so before anything else changes, what is lost is put aside, and the member
 * starts with the term and the vote of its fence, neither voting nor leading until it has everything again.
 */

import { join } from "node:path";
import { invariant } from "../raft/index.ts";
import { crashPoint } from "./crash-point.ts";
import { markDamaged, noteCorruption, putAside, SUSPECT_LOG, SUSPECT_STATE } from "./damage.ts";
import { FENCE_FILE, type Fence } from "./fence.ts";
import { type Beginning, type Case, type Finding, judge, lookFor } from "./judgement.ts";
import { type MemberData, memberData } from "./member-data.ts";
import { makeFirstState, openRaft, openState, tidyStores } from "./member-stores.ts";
import type { Rocks } from "./rocks.ts";
import { RocksLogStore } from "./rocks-log-store.ts";
import { RocksStateStore } from "./rocks-state-store.ts";
import { StartFailure } from "./start-failure.ts";
import type { StoreError } from "./store-error.ts";
import { removeSuccessionLock } from "./successor-directory.ts";

export interface MemberStart extends Case {
  /** Size of the cache of the state's store, in bytes; a default if it is not given. */
  readonly stateCacheBytes?: number | undefined;
  readonly onFatal: (error: StoreError) => void;
}

/**
 * Starts the member. What it opens it adds to `opened`, for the caller to close should the start fail. Raises Refused,
 * having changed nothing that matters, a StoreError, or what the file system raises. A store that fails meanwhile is also
 * reported to `onFatal`, first.
 */
export async function startMember(start: MemberStart, raft: Finding<Rocks>, opened: Rocks[]): Promise<MemberData> {
  const { directory, identity, onFatal, stateCacheBytes } = start;
  const stateRocks = await lookFor(() => openState(directory, stateCacheBytes));
  if (stateRocks.value !== null) {
    // Its lock keeps others out even where the log is not there to be locked.
    opened.push(stateRocks.value);
  }
  const beginning = await judge(start, raft, stateRocks);
  const { meta, position, hardState, resetTo } = beginning;
  const stores = await replaceLost(start, beginning, { raft: raft.value, state: stateRocks.value }, opened);
  tidyStores(directory);
  removeSuccessionLock(directory);

  const failure = new StartFailure();
  const reporting = (note: typeof SUSPECT_LOG | typeof SUSPECT_STATE) =>
    failure.reporting(noteCorruption(directory, note, onFatal));
  const state = new RocksStateStore(stores.state, reporting(SUSPECT_STATE));
  let log: RocksLogStore | null = null;
  try {
    if (resetTo !== null) {
      // From here on only the state has what the log lets go of.
      await failure.orDone((done) => state.sync(done));
    }
    const opening = new RocksLogStore({
      rocks: stores.raft,
      fencePath: join(directory, FENCE_FILE),
      meta,
      fence: stores.fence,
      onFatal: reporting(SUSPECT_LOG),
    });
    log = opening;
    const boot = Math.max(meta.boot, stores.fence.boot) + 1;
    // What is applied is committed, which is known for good from here on.
    const commit = Math.max(position.appliedIndex, log.meta.commit);
    await failure.orDone((done) => opening.writeStart({ boot, ...hardState, commit, resetTo }, done));
    if (beginning.loss !== null) {
      crashPoint("damage.started");
    }
    return memberData(directory, identity, { raft: stores.raft, log, state, commit });
  } catch (error) {
    // Their threads must let go of the stores before the caller closes those.
    await Promise.all([log?.close(), state.close()]);
    throw error;
  }
}

/** Puts aside what is lost and makes it anew, empty; the fence says so first. */
async function replaceLost(
  { directory, stateCacheBytes }: MemberStart,
  { loss, fence }: Beginning,
  found: { readonly raft: Rocks | null; readonly state: Rocks | null },
  opened: Rocks[],
): Promise<{ readonly raft: Rocks; readonly state: Rocks; readonly fence: Fence }> {
  let { raft, state } = found;
  if (loss === null) {
    invariant(raft !== null && state !== null, "a store that does not open is lost");
    return { raft, state, fence };
  }
  const marked = fence.damaged ? fence : markDamaged(join(directory, FENCE_FILE), fence);
  const isStateLost = loss.store === "state";
  await raft?.close();
  if (isStateLost) {
    await state?.close();
    state = null;
  }
  putAside(directory, isStateLost ? ["state", "log"] : ["log"], loss.problem);
  if (isStateLost) {
    await makeFirstState(directory);
  }
  raft = await openRaft(directory, true);
  opened.push(raft);
  if (state === null) {
    state = await openState(directory, stateCacheBytes);
    opened.push(state);
  }
  crashPoint("damage.made");
  return { raft, state, fence: marked };
}
