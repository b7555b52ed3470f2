/** `quoinctl backup list`: the snapshots of a store, how far each reaches, and its encryption key. */

import { type BackupStore, type Catalog, type Chain, encryptionKeyId } from "@quoin/backup";
import type { BackupEntry } from "../../index.ts";
import type { Cell } from "../output/index.ts";
import type { Session } from "../session/index.ts";
import { escapeControls, formatSize } from "../text/index.ts";
import { explainingBackups } from "./backup-failure.ts";
import { atBestMember } from "./backup-member.ts";
import type { ListOptions } from "./backup-options.ts";
import { readStoreCatalog, withStore } from "./backup-target.ts";

/** One backup; unknown numbers are undefined. */
interface Listed {
  readonly id: string;
  readonly object: string;
  readonly index: number;
  readonly revision: number;
  readonly wallMs: number;
  readonly sizeBytes: number;
  readonly segments: number;
  readonly segmentBytes: number;
  readonly endIndex: number;
  readonly endRevision: number | undefined;
  readonly endWallMs: number | undefined;
  /** Undefined = not checked; null = not encrypted. */
  readonly keyId: string | null | undefined;
}

interface Listing {
  readonly store: string;
  readonly clusterId: string;
  readonly backups: readonly Listed[];
  readonly problems: readonly string[];
}

/** More than the bytes at the beginning of an object that name its key. */
const HEAD_BYTES = 1_024;
/** How many objects are checked at the same time. */
const HEADS_AT_A_TIME = 8;

/** Lists a given store, or that of the members. */
export async function listBackups(session: Session, text: string | undefined, options: ListOptions): Promise<void> {
  await explainingBackups(async () => {
    const listing =
      text === undefined
        ? await listOfMembers(session, options)
        : await withStore(session, text, options, async (store, location) =>
            listOfStore(store, await readStoreCatalog(store, location, options)),
          );
    await print(session, listing);
  });
}

async function listOfMembers(session: Session, { cluster }: ListOptions): Promise<Listing> {
  const answer = await atBestMember(session, (admin) => admin.listBackups(cluster));
  const { store, clusterId, problems } = answer;
  return { store, clusterId, problems, backups: answer.backups.map(ofMember) };
}

function ofMember({ endRevision, endWallMs, ...entry }: BackupEntry): Listed {
  return {
    ...entry,
    endRevision: endRevision === 0 ? undefined : endRevision,
    endWallMs: endWallMs === 0 ? undefined : endWallMs,
    keyId: undefined,
  };
}

async function listOfStore(store: BackupStore, { clusterId, chains, problems }: Catalog): Promise<Listing> {
  const backups: Listed[] = [];
  for (let start = 0; start < chains.length; start += HEADS_AT_A_TIME) {
    backups.push(
      ...(await Promise.all(chains.slice(start, start + HEADS_AT_A_TIME).map((chain) => ofStore(store, chain)))),
    );
  }
  return { store: store.describe(), clusterId, backups, problems: problems.map(({ message }) => message) };
}

async function ofStore(store: BackupStore, { snapshot, segments, end }: Chain): Promise<Listed> {
  const { id, name, index, revision, wallMs, size } = snapshot;
  return {
    id,
    object: name,
    index,
    revision,
    wallMs,
    sizeBytes: size,
    segments: segments.length,
    segmentBytes: segments.reduce((bytes, segment) => bytes + segment.size, 0),
    endIndex: end.index,
    endRevision: end.revision,
    endWallMs: end.wallMs,
    keyId: (await encryptionKeyId(await store.get(name, { start: 0, end: HEAD_BYTES }))) ?? null,
  };
}

async function print(session: Session, { store, clusterId, backups, problems }: Listing): Promise<void> {
  await session.print({
    document: { store, cluster_id: clusterId, backups: backups.map(toDocument), problems },
    shown: {
      columns: ["ID", "INDEX", "REVISION", "TIME", "SIZE", "SEGMENTS", "UP TO REVISION", "UP TO TIME", "KEY"],
      rows: backups.map(toRow),
    },
  });
  if (backups.length === 0) {
    session.note(`${store} has no backup of cluster ${clusterId}`);
  }
  for (const problem of problems) {
    session.note(escapeControls(`problem: ${problem}`));
  }
}

function toDocument(listed: Listed): object {
  const { id, object, index, revision, wallMs, sizeBytes, segments, segmentBytes } = listed;
  return {
    id,
    object,
    index,
    revision,
    wall_ms: wallMs,
    size_bytes: sizeBytes,
    segments,
    segment_bytes: segmentBytes,
    end_index: listed.endIndex,
    end_revision: listed.endRevision ?? null,
    end_wall_ms: listed.endWallMs ?? null,
    ...(listed.keyId === undefined ? {} : { key_id: listed.keyId }),
  };
}

function toRow({ segments, segmentBytes, keyId, ...listed }: Listed): readonly Cell[] {
  return [
    ...[listed.id, listed.index, listed.revision, new Date(listed.wallMs), formatSize(listed.sizeBytes)],
    segments === 0 ? undefined : `${segments}, ${formatSize(segmentBytes)}`,
    ...[listed.endRevision, listed.endWallMs === undefined ? undefined : new Date(listed.endWallMs)],
    keyId === null ? "not encrypted" : keyId,
  ];
}
