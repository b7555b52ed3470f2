/**
 * One entry of the Raft log as a row of bytes.
 *
 * The leader encodes an entry once; the same bytes go into its own log, to the other members and into their logs. The
 * checksum covers everything after itself. Every receipt and every read from disk checks it. The caller provides the
 * checksum function, because this folder contains none.
 *
 * Layout, big-endian: crc32 (4) · format (1) · type (1) · zero (2) · term (8) · index (8) · envelope: tick (8), wall
 * (8), origin member (8), origin boot (8), origin seq (8) · payload.
 */

import { SlabPool } from "../bytes/index.ts";
import { invariant, readUint32, readUint53, writeUint32, writeUint53 } from "../primitives/index.ts";

/**
 * The type of an entry. Commands are opaque to the consensus core; the other types change the configuration or nothing.
 */
export const EntryType = { Empty: 1, Command: 2, Bootstrap: 3, AddSlot: 4, Reconfigure: 5, Leave: 6 } as const;
export type EntryType = (typeof EntryType)[keyof typeof EntryType];

/**
 * Identifies one attempt to log a command; never used twice, ignored by apply. All zero if no member waits for the
 * entry.
 */
export interface ProposalOrigin {
  readonly memberId: number;
  readonly boot: number;
  readonly seq: number;
}

/** The leader that appends the entry sets this: cluster tick and wall clock, both in milliseconds, and the origin. */
export interface Envelope {
  readonly tickMs: number;
  readonly wallMs: number;
  readonly origin: ProposalOrigin;
}

/** CRC-32 (ISO-HDLC, as zlib computes it) of the bytes. */
export type Checksum = (bytes: Uint8Array) => number;

/** No attempt: the origin of entries that the core or the leader itself adds. */
export const NO_PROPOSAL_ORIGIN: ProposalOrigin = { memberId: 0, boot: 0, seq: 0 };

/** An envelope that carries neither time nor origin: for entries that the core adds by itself. */
export const NO_ENVELOPE: Envelope = { tickMs: 0, wallMs: 0, origin: NO_PROPOSAL_ORIGIN };

/** Bytes of a row before its payload. */
export const ENTRY_HEADER_BYTES = 64;

/** The largest row, payload included, in bytes (11 MiB): a 10 MiB append batch with its keys. */
export const ENTRY_BYTES_MAX = 11 * 1024 * 1024;

const FORMAT = 1;

/** Rows stay in memory for long, and leave it in order, so they share their slabs with nothing else. */
const rows = new SlabPool();

/** A row with everything but term, index and checksum, which `sealEntry` adds when the leader appends it. */
export function encodeEntry(type: EntryType, envelope: Envelope, payload: Uint8Array): Uint8Array {
  // A larger row would be written, acknowledged, and found damaged at the next start.
  invariant(ENTRY_HEADER_BYTES + payload.length <= ENTRY_BYTES_MAX, "entries have at most 11 MiB", () => {
    return `a payload of ${payload.length} bytes`;
  });
  const row = rows.allocate(ENTRY_HEADER_BYTES + payload.length);
  row.fill(0, 0, ENTRY_HEADER_BYTES);
  row[4] = FORMAT;
  row[5] = type;
  writeUint53(row, 24, envelope.tickMs);
  writeUint53(row, 32, envelope.wallMs);
  writeUint53(row, 40, envelope.origin.memberId);
  writeUint53(row, 48, envelope.origin.boot);
  writeUint53(row, 56, envelope.origin.seq);
  row.set(payload, ENTRY_HEADER_BYTES);
  return row;
}

/** Writes term, index and checksum into the row, in place. */
export function sealEntry(row: Uint8Array, term: number, index: number, checksum: Checksum): void {
  invariant(row.length >= ENTRY_HEADER_BYTES, "rows hold a whole header");
  writeUint53(row, 8, term);
  writeUint53(row, 16, index);
  writeUint32(row, 0, checksum(row.subarray(4)));
}

/** Whether the bytes are a whole row of a known format and type with the right checksum. */
export function isIntactEntry(row: Uint8Array, checksum: Checksum): boolean {
  return (
    row.length >= ENTRY_HEADER_BYTES &&
    row.length <= ENTRY_BYTES_MAX &&
    row[4] === FORMAT &&
    (row[5] as number) >= EntryType.Empty &&
    (row[5] as number) <= EntryType.Leave &&
    readUint32(row, 0) === checksum(row.subarray(4))
  );
}

/** Whether entries of this type change the configuration when they are applied. */
export function isConfigurationType(type: number): boolean {
  return type >= EntryType.Bootstrap && type <= EntryType.Leave;
}

/** The type of a row. */
export function entryType(row: Uint8Array): EntryType {
  return row[5] as EntryType;
}

/** The term of a sealed row. */
export function entryTerm(row: Uint8Array): number {
  return readUint53(row, 8);
}

/** The index of a sealed row. */
export function entryIndex(row: Uint8Array): number {
  return readUint53(row, 16);
}

/** The envelope of a row. */
export function entryEnvelope(row: Uint8Array): Envelope {
  return { tickMs: entryTickMs(row), wallMs: entryWallMs(row), origin: entryOrigin(row) };
}

/** The cluster tick in the envelope of a row. */
export function entryTickMs(row: Uint8Array): number {
  return readUint53(row, 24);
}

/** The wall clock in the envelope of a row. */
export function entryWallMs(row: Uint8Array): number {
  return readUint53(row, 32);
}

/** The origin in the envelope of a row. */
export function entryOrigin(row: Uint8Array): ProposalOrigin {
  return { memberId: readUint53(row, 40), boot: readUint53(row, 48), seq: readUint53(row, 56) };
}

/** The member that waits for the entry; 0 = no member waits. */
export function entryOriginMember(row: Uint8Array): number {
  return readUint53(row, 40);
}

/** The payload of a row: a view, not a copy. */
export function entryPayload(row: Uint8Array): Uint8Array {
  return row.subarray(ENTRY_HEADER_BYTES);
}
