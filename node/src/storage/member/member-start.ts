/**
 * The start of a member from its data.
 *
 * First it opens and judges both stores, and changes nothing. If acknowledged data is lost that others have, the member
 * is damaged (P46). The mirror records that before anything else changes, and the lost stores are put aside. The member
 * starts with the term and the vote of its mirror, and neither votes nor leads until it has everything again.
 */

import { join } from "node:path";
import { invariant } from "../../primitives/index.ts";
import { crashPoint, type HardStateMirror, MIRROR_FILE, StartFailure, type StoreError } from "../files/index.ts";
import { writeIdentity } from "../identity/index.ts";
import { type LogFiles, openLog, SegmentLogStore, tidyLog } from "../log/index.ts";
import {
  catchDamage,
  markDamaged,
  noteCorruption,
  planStartupRecovery,
  quarantine,
  type ReadResult,
  removeSuccessionLock,
  type StartupRecoveryInput,
  type StartupRecoveryPlan,
  SUSPECT_LOG,
  SUSPECT_STATE,
} from "../recovery/index.ts";
import type { Rocks } from "../rocks/index.ts";
import { makeFirstState, openState, RocksStateStore, tidyStores } from "../state/index.ts";
import { type MemberData, memberData } from "./member-data.ts";

export interface MemberStart extends StartupRecoveryInput {
  /** Size of the cache of the state's store, in bytes; a default if it is not given. */
  readonly stateCacheBytes?: number | undefined;
  /** Bytes of a full segment of the log; by default 16 MiB. */
  readonly segmentBytes?: number | undefined;
  readonly onFatal: (error: StoreError) => void;
}

/** A store, or the files of the log. */
export interface Closable {
  close(): Promise<void>;
}

/**
 * Starts the member. Adds the stores that it opens to `opened`; the caller must close them if the start fails. Raises
 * Refused, having changed nothing that matters, a StoreError, or what the file system raises. If a store fails
 * meanwhile, `onFatal` is called first.
 */
export async function startMember(
  start: MemberStart,
  log: ReadResult<LogFiles>,
  opened: Closable[],
): Promise<MemberData> {
  const { directory, identity, onFatal, stateCacheBytes, segmentBytes } = start;
  const stateRocks = await catchDamage(() => openState(directory, stateCacheBytes));
  if (stateRocks.value !== null) {
    // Its lock keeps other processes out even if there is no log to lock.
    opened.push(stateRocks.value);
  }
  const plan = await planStartupRecovery(start, log, stateRocks);
  const { meta, position, hardState, resetTo } = plan;
  const stores = await replaceLost(start, plan, { log: log.value, state: stateRocks.value }, opened);
  tidyStores(directory);
  tidyLog(directory, stores.log);
  removeSuccessionLock(directory);

  const failure = new StartFailure();
  const reporting = (note: typeof SUSPECT_LOG | typeof SUSPECT_STATE) =>
    failure.reporting(noteCorruption(directory, note, onFatal));
  const state = new RocksStateStore(stores.state, reporting(SUSPECT_STATE));
  let store: SegmentLogStore | null = null;
  try {
    if (resetTo !== null) {
      // After the reset only the state has the entries that the log drops.
      await failure.orDone((done) => state.sync(done));
    }
    const opening = new SegmentLogStore({
      files: stores.log,
      mirrorPath: join(directory, MIRROR_FILE),
      meta,
      mirror: stores.mirror,
      onFatal: reporting(SUSPECT_LOG),
      segmentBytes,
    });
    store = opening;
    const boot = Math.max(meta.boot, stores.mirror.boot) + 1;
    // Applied entries are committed; the log records that durably from now on.
    const commit = Math.max(position.appliedIndex, meta.commit);
    await failure.orDone((done) => opening.writeStart({ boot, ...hardState, commit, resetTo }, done));
    if (plan.loss !== null) {
      crashPoint("damage.started");
    }
    return memberData(directory, identity, { files: stores.log, log: opening, state, commit });
  } catch (error) {
    // Their threads must release the stores before the caller closes them.
    await Promise.all([store?.close(), state.close()]);
    throw error;
  }
}

/** Marks the damage in the mirror, puts lost stores aside, and creates empty ones. */
async function replaceLost(
  { directory, identity, stateCacheBytes }: MemberStart,
  { loss, mirror }: StartupRecoveryPlan,
  found: { readonly log: LogFiles | null; readonly state: Rocks | null },
  opened: Closable[],
): Promise<{ readonly log: LogFiles; readonly state: Rocks; readonly mirror: HardStateMirror }> {
  let { log, state } = found;
  if (loss === null) {
    invariant(log !== null && state !== null, "a store that does not open is lost");
    return { log, state, mirror };
  }
  const marked = mirror.damaged ? mirror : markDamaged(join(directory, MIRROR_FILE), mirror);
  const isStateLost = loss.store === "state";
  await log?.close();
  if (isStateLost) {
    await state?.close();
    state = null;
  }
  quarantine(directory, isStateLost ? ["state", "log"] : ["log"], loss.problem);
  if (isStateLost) {
    await makeFirstState(directory);
  }
  log = await openLog(directory, true);
  opened.push(log);
  // The log of a directory of the former format may be lost too.
  writeIdentity(directory, identity);
  if (state === null) {
    state = await openState(directory, stateCacheBytes);
    opened.push(state);
  }
  crashPoint("damage.made");
  return { log, state, mirror: marked };
}
