/**
 * `quoinctl backup delete`: removes a snapshot from a store, and the segments that no other snapshot needs, the oldest
 * object last. So the rest after an interruption can be restored as far as it reaches.
 *
 * Before it deletes anything, it reads another snapshot to its end: the last restorable backup stays, unless the caller
 * allows its deletion.
 */

import {
  BackupError,
  type BackupStore,
  type Catalog,
  type DecryptOptions,
  deletePlanned,
  planDeletion,
  type RetentionPlan,
  verifyChain,
} from "@quoin/backup";
import { confirm } from "../prompts/index.ts";
import type { Session } from "../session/index.ts";
import { interruptible } from "../terminal/index.ts";
import { formatSize } from "../text/index.ts";
import { explainingBackups, isOfKeys } from "./backup-failure.ts";
import type { DeleteOptions } from "./backup-options.ts";
import { counted, withBackupProgress } from "./backup-progress.ts";
import { readDecryptOptions, readStoreCatalog, selectSnapshot, withStore } from "./backup-target.ts";

/** Deletes the backup with this id. */
export async function deleteBackup(
  session: Session,
  text: string,
  wanted: string,
  options: DeleteOptions,
): Promise<void> {
  await explainingBackups(async () => {
    const decryptOptions = await readDecryptOptions(session, options);
    await interruptible(session.terminal, (signal) =>
      withStore(session, text, options, async (store, location) => {
        const catalog = await readStoreCatalog(store, location, options);
        const { snapshot } = selectSnapshot(catalog, wanted);
        const { allowLast = false } = options;
        const plan = planDeletion(catalog, snapshot.name, { allowLast });
        if (!allowLast) {
          await proveOther(session, { store, catalog, decryptOptions, signal }, snapshot.name);
        }
        if (options.yes !== true) {
          await confirm(session.terminal, describePlan(plan, snapshot.id, store));
        }
        const deleted = await deleteObjects(store, plan, signal);
        await print(session, snapshot.id, deleted, plan);
      }),
    );
  });
}

interface DeletionContext {
  readonly store: BackupStore;
  readonly catalog: Catalog;
  readonly decryptOptions: DecryptOptions;
  readonly signal: AbortSignal;
}

/** Raises a BackupError unless another snapshot is intact; checks the newest ones first. */
async function proveOther(
  session: Session,
  { store, catalog, decryptOptions, signal }: DeletionContext,
  name: string,
): Promise<void> {
  const isProven = await withBackupProgress(session, "reading a backup that stays:", async (show) => {
    let bytes = 0;
    const reading: Pick<BackupStore, "get"> = {
      get: async (object) =>
        counted(await store.get(object), (count) => {
          signal.throwIfAborted();
          bytes += count;
        }),
    };
    for (const snapshot of catalog.snapshots.toReversed().filter((one) => one.name !== name)) {
      const { problem } = await verifyChain(
        reading,
        { snapshot, segments: [] },
        { ...decryptOptions, onProgress: ({ rows }) => show(bytes, `${rows} rows`) },
      );
      if (problem === undefined) {
        return true;
      }
      // Without its key, its state is unknown, and so is the origin of what has none.
      if (isOfKeys(problem.code)) {
        throw problem;
      }
      session.warn(problem.message);
    }
    return false;
  });
  if (!isProven) {
    throw new BackupError("last-chain", "no other backup is intact, and nothing could be restored without it", {
      object: name,
    });
  }
}

function describePlan({ deletions, bytes }: RetentionPlan, id: string, store: BackupStore): string {
  const segments = deletions.filter(({ kind }) => kind === "segment").length;
  return `This deletes backup ${id} with ${segments} segments, ${formatSize(bytes)}, from ${store.describe()} for ever.`;
}

/** @returns the names of the deleted objects */
async function deleteObjects(store: BackupStore, plan: RetentionPlan, signal: AbortSignal): Promise<string[]> {
  const deleted: string[] = [];
  await deletePlanned(store, plan, (name) => {
    deleted.push(name);
    signal.throwIfAborted();
  });
  return deleted;
}

async function print(
  session: Session,
  id: string,
  deleted: readonly string[],
  { bytes }: RetentionPlan,
): Promise<void> {
  await session.print({
    document: { id, deleted, freed_bytes: bytes },
    shown: { columns: ["ID", "OBJECTS", "FREED"], rows: [[id, deleted.length, formatSize(bytes)]] },
  });
}
