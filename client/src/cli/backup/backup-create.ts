/**
 * `quoinctl backup create`: streams the state of a member to this machine, and writes it to a file or a store.
 *
 * It checks the bytes on the way: each checksum, the counts, and the hash of the trailer. A backup that was cut off or
 * changed on the way never gets its name.
 */

import {
  type CheckedSnapshot,
  checkSnapshot,
  encrypt,
  type KeyRing,
  openStore,
  putHint,
  type SnapshotHeader,
  type StoreLocation,
  snapshotName,
} from "@quoin/backup";
import type { SnapshotStream } from "../../index.ts";
import { assertNewFile, writeNewFile } from "../files/index.ts";
import type { Session } from "../session/index.ts";
import { interruptible } from "../terminal/index.ts";
import { formatSize } from "../text/index.ts";
import { explainingBackups } from "./backup-failure.ts";
import { atBestMember, type QueriedMember } from "./backup-member.ts";
import type { CreateOptions } from "./backup-options.ts";
import { counted, withBackupProgress } from "./backup-progress.ts";
import { assertStoreDirectory, findTarget, readKeys } from "./backup-target.ts";

/** Writes the bytes to the place of the backup, completely or not at all. @returns the name of the written backup */
type Write = (header: SnapshotHeader, bytes: AsyncIterable<Uint8Array>) => Promise<string>;

/** A written backup. */
interface Created {
  readonly written: string;
  readonly checked: CheckedSnapshot;
  readonly sizeBytes: number;
}

/** Makes a backup in the named place. */
export async function createBackup(session: Session, text: string, options: CreateOptions): Promise<void> {
  await explainingBackups(async () => {
    const target = await findTarget(session, text, options);
    if (target.kind === "file") {
      await assertNewFile(target.file);
    } else {
      await assertStoreDirectory(target.location);
    }
    const keyRing = await readKeys(session, options);
    if (keyRing === undefined) {
      session.warn(
        "the backup is not encrypted, and holds signing keys and hashes of passwords; encrypt it with --key-file FILE",
      );
    }
    const write: Write =
      target.kind === "store"
        ? (header, bytes) => putIntoStore(target.location, header, bytes)
        : async (_header, bytes) => {
            await writeNewFile(target.file, bytes);
            return target.file;
          };
    await interruptible(session.terminal, (signal) =>
      atBestMember(session, async (admin, member) => {
        const stream = await admin.snapshot({ signal, timeoutMs: session.timeoutMs });
        const created = await copy(session, stream, keyRing, write);
        await print(session, { member, stream, keyRing, created });
      }),
    );
  });
}

async function copy(
  session: Session,
  stream: SnapshotStream,
  keyRing: KeyRing | undefined,
  write: Write,
): Promise<Created> {
  return withBackupProgress(session, "writing", async (show) => {
    let arrivedBytes = 0;
    let sizeBytes = 0;
    const arriving = counted(stream.chunks, (count) => {
      arrivedBytes += count;
    });
    const checked = await checkSnapshot(arriving);
    const written = await write(
      checked.header,
      counted(encrypt(checked.stream, keyRing?.first), (count) => {
        sizeBytes += count;
        show(arrivedBytes, `${checked.rows} rows`);
      }),
    );
    return { written, checked, sizeBytes };
  }).finally(() => stream.cancel());
}

async function putIntoStore(
  location: StoreLocation,
  header: SnapshotHeader,
  bytes: AsyncIterable<Uint8Array>,
): Promise<string> {
  const store = await openStore(location, { create: false });
  try {
    const name = snapshotName(header);
    await store.put(name, bytes);
    const { clusterId, clusterName, quoinVersion } = header;
    await putHint(store, clusterId, { clusterName, quoinVersion });
    return name;
  } finally {
    await store.close();
  }
}

async function print(
  session: Session,
  {
    member,
    stream,
    keyRing,
    created,
  }: {
    readonly member: QueriedMember;
    readonly stream: SnapshotStream;
    readonly keyRing: KeyRing | undefined;
    readonly created: Created;
  },
): Promise<void> {
  const { written, checked, sizeBytes } = created;
  const { id, clusterId, index, revision, wallMs } = checked.header;
  const { records, hash } = checked.summary();
  const keyId = keyRing?.first.id;
  const time = new Date(wallMs);
  await session.print({
    document: {
      written,
      id,
      cluster_id: clusterId,
      member: member.name,
      index,
      revision,
      wall_ms: wallMs,
      rows: records,
      size_bytes: sizeBytes,
      sha256: Buffer.from(hash).toString("hex"),
      key_id: keyId ?? null,
      leaderless: stream.leaderless,
      commit_index: stream.commitIndex,
    },
    shown: {
      columns: ["WRITTEN", "INDEX", "REVISION", "TIME", "ROWS", "SIZE", "KEY"],
      rows: [[...[written, index, revision, time, records], ...[formatSize(sizeBytes), keyId]]],
    },
  });
  if (stream.leaderless) {
    session.warn(
      `${member.name} has no leader, so the backup may miss acknowledged writes: it ends at index ${index}, and this member ` +
        `knows that entries up to ${stream.commitIndex} are committed. Make another one when there is a leader`,
    );
  }
}
