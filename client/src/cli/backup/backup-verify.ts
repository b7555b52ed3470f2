/**
 * `quoinctl backup verify`: reads a file, or a snapshot with its segments, to the last byte. It checks checksums,
 * hashes, encryption, counts, and that each object follows the one before.
 *
 * It does not rebuild the state, because only a member knows the meaning of rows and entries. Its output says so, and
 * names the command that does.
 */

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import {
  BackupError,
  type BackupStore,
  type Catalog,
  type ChainObjects,
  checkSnapshot,
  type DecryptOptions,
  decrypt,
  planRestore,
  type StoredSnapshot,
  verifyChain,
} from "@quoin/backup";
import { CommandError, EXIT_CODES } from "../errors/index.ts";
import type { Session } from "../session/index.ts";
import { interruptible } from "../terminal/index.ts";
import { explainingBackups, isOfKeys } from "./backup-failure.ts";
import type { VerifyOptions } from "./backup-options.ts";
import { counted, withBackupProgress } from "./backup-progress.ts";
import { findTarget, readDecryptOptions, readStoreCatalog, selectSnapshot, withStore } from "./backup-target.ts";
import { WHERE_MEMBER_PROGRAM_IS } from "./member-program.ts";

/** The content that was read without an error. */
interface Verified {
  readonly clusterId: string;
  readonly snapshot: Pick<StoredSnapshot, "id" | "index" | "revision" | "wallMs">;
  readonly end: { readonly index: number; readonly revision: number | undefined; readonly wallMs: number | undefined };
  readonly objects: number;
  readonly rows: number;
  readonly entries: number;
  readonly bytes: number;
  readonly notes: readonly string[];
}

/** Verifies the named backup. */
export async function verifyBackup(session: Session, text: string, options: VerifyOptions): Promise<void> {
  await explainingBackups(async () => {
    const decryptOptions = await readDecryptOptions(session, options);
    const target = await findTarget(session, text, options);
    const verified = await interruptible(session.terminal, (signal) =>
      target.kind === "file" && target.exists
        ? verifyFile(session, target.file, decryptOptions, signal)
        : withStore(session, text, options, async (store, location) => {
            const catalog = await readStoreCatalog(store, location, options);
            return verifyStore(session, store, catalog, { decryptOptions, backup: options.backup, signal });
          }),
    );
    await print(session, verified, rebuildCommandFor(text, options));
  });
}

async function verifyFile(
  session: Session,
  file: string,
  decryptOptions: DecryptOptions,
  signal: AbortSignal,
): Promise<Verified> {
  const { size } = await stat(file);
  return withBackupProgress(session, "reading", async (show) => {
    let bytes = 0;
    const reading = counted(createReadStream(file, { signal }), (count) => {
      bytes += count;
    });
    const checked = await checkSnapshot((await decrypt(reading, decryptOptions)).stream);
    for await (const _ of checked.stream) {
      show(bytes, `${checked.rows} rows`, size);
    }
    const { clusterId, id, index, revision, wallMs } = checked.header;
    const { records: rows } = checked.summary();
    const end = { index, revision, wallMs };
    return { clusterId, snapshot: { id, ...end }, end, objects: 1, rows, entries: 0, bytes, notes: [] };
  }).catch((error: unknown) => {
    throw error instanceof BackupError ? error.of(file) : error;
  });
}

async function verifyStore(
  session: Session,
  store: BackupStore,
  catalog: Catalog,
  {
    decryptOptions,
    backup,
    signal,
  }: { readonly decryptOptions: DecryptOptions; readonly backup: string | undefined; readonly signal: AbortSignal },
): Promise<Verified> {
  const chosen: ChainObjects & Pick<Verified, "end"> =
    backup === undefined ? planRestore(catalog, { kind: "latest" }) : selectSnapshot(catalog, backup);
  const { snapshot, segments, end } = chosen;
  const totalBytes = [snapshot, ...segments].reduce((sum, { size }) => sum + size, 0);
  return withBackupProgress(session, "reading", async (show) => {
    let bytes = 0;
    const reading: Pick<BackupStore, "get"> = {
      get: async (name, range) => {
        signal.throwIfAborted();
        return counted(await store.get(name, range), (count) => {
          signal.throwIfAborted();
          bytes += count;
        });
      },
    };
    const { problem, objects, rows, entries, lastIndex } = await verifyChain(reading, chosen, {
      ...decryptOptions,
      onProgress: (read) => show(bytes, `${read.rows} rows, ${read.entries} entries`, totalBytes),
    });
    if (problem !== undefined && !isOfKeys(problem.code)) {
      throw damaged(problem.message, lastIndex);
    }
    if (problem !== undefined) {
      throw problem;
    }
    const notes = catalog.problems.map(({ message }) => message);
    return { clusterId: catalog.clusterId, snapshot, end, objects, rows, entries, bytes, notes };
  });
}

function damaged(message: string, lastIndex: number | undefined): CommandError {
  const left =
    lastIndex === undefined ? "Nothing of it can be restored" : `It can be restored up to index ${lastIndex}`;
  return new CommandError(
    `${message}. ${left}`,
    EXIT_CODES.refused,
    "verify an older one with --backup ID, and make a new one: quoinctl backup start",
  );
}

async function print(session: Session, verified: Verified, rebuildCommand: string): Promise<void> {
  const { clusterId, snapshot, end, objects, rows, entries, bytes, notes } = verified;
  await session.print({
    document: {
      cluster_id: clusterId,
      id: snapshot.id,
      index: snapshot.index,
      revision: snapshot.revision,
      end_index: end.index,
      end_revision: end.revision ?? null,
      end_wall_ms: end.wallMs ?? null,
      objects,
      rows,
      entries,
      bytes,
      intact: true,
      rebuilt: false,
      problems: notes,
    },
    shown: {
      columns: ["ID", "INDEX", "UP TO INDEX", "UP TO REVISION", "UP TO TIME", "OBJECTS", "ROWS", "ENTRIES"],
      rows: [
        [
          ...[snapshot.id, snapshot.index, end.index, end.revision],
          end.wallMs === undefined ? undefined : new Date(end.wallMs),
          ...[objects, rows, entries],
        ],
      ],
    },
  });
  for (const note of notes) {
    session.note(`problem: ${note}`);
  }
  session.note(`checked: every byte; formats, encryption, hashes, counts, and that each object follows the one before
not checked: that the state can be rebuilt with the digest of the cluster. To check that, run: ${rebuildCommand}
${WHERE_MEMBER_PROGRAM_IS}`);
}

/** The command that rebuilds the state from the same backup. */
function rebuildCommandFor(text: string, options: VerifyOptions): string {
  const { keyFile, allowUnencrypted = false, credentialsFile, cluster } = options;
  const given = [
    ...(cluster === undefined ? [] : ["--cluster-id", cluster]),
    ...(keyFile === undefined ? [] : ["--key-file", keyFile]),
    ...(allowUnencrypted ? ["--allow-unencrypted"] : []),
    ...(credentialsFile === undefined ? [] : ["--credentials-file", credentialsFile]),
  ];
  return ["quoin-node backup verify", text, ...given].join(" ");
}
