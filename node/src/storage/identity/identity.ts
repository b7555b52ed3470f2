/**
 * The identity of a data directory: created with it, before anything else, and never created again for existing data.
 *
 * The incarnation distinguishes this directory from every other one that had the same member name. A directory in phase
 * `empty` has no cluster yet; in phase `member` it holds a member's data; in phases `removed` and `refused` it holds
 * data that must not be served any more, for the given reason. The file has a checksum, so that a flipped bit is
 * reported as damage, and not taken for the identity of another member or the format of another release.
 */

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { createFile, replaceFile, StoreError } from "../files/index.ts";
import { identityDamaged, otherFormat } from "./refusal.ts";

/** Phase of a directory whose data will never be served again. */
export type RetiredPhase = "removed" | "refused";
export type Phase = "empty" | "member" | RetiredPhase;

export interface Identity {
  readonly format: typeof FORMAT;
  readonly phase: Phase;
  readonly clusterName: string;
  /** Name of the member, unique in its cluster. */
  readonly name: string;
  /** 32 hexadecimal digits. */
  readonly incarnation: string;
  /** UUID; "" in phase `empty`. */
  readonly clusterId: string;
  /** Index of the entry that added the member; 0 in phase `empty`. */
  readonly memberId: number;
  /** Why the data is not served any more; "" in phases `empty` and `member`, and in files from before this field. */
  readonly reason: string;
}

const FILE = "identity";
/**
 * Format of all data in the directory. Format 1 had no event logs. Format 2 had event logs without a namespace, no
 * versions of passwords, and no usage of quotas by namespace. Format 3 had the Raft log in RocksDB, which the start
 * converts.
 */
const FORMAT = 4;
const CONVERTIBLE_FORMAT = 3;
/** Fields that the checksum covers, in this order. */
const FIELDS = [
  "format",
  "phase",
  "clusterName",
  "name",
  "incarnation",
  "clusterId",
  "memberId",
  "reason",
] as const satisfies readonly (keyof Identity)[];
const DRAFT_PATTERN = /^identity\.[0-9]+\.new$/;
const PHASES = new Set<unknown>(["empty", "member", "removed", "refused"] satisfies Phase[]);
const INCARNATION_BYTES = 16;
const INCARNATION_PATTERN = /^[0-9a-f]{32}$/;
export const UUID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** An identity for a new directory, with an incarnation of its own. */
export function mintIdentity(clusterName: string, name: string): Identity {
  return {
    format: FORMAT,
    phase: "empty",
    clusterName,
    name,
    incarnation: randomBytes(INCARNATION_BYTES).toString("hex"),
    clusterId: "",
    memberId: 0,
    reason: "",
  };
}

/**
 * The identity of the directory, or null if it has none. Raises Refused if it is damaged or has another format, and a
 * StoreError if it cannot be read.
 */
export function readIdentity(directory: string): Identity | null {
  let text: string;
  try {
    text = readFileSync(join(directory, FILE), "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return null;
    }
    throw new StoreError("io", `the identity of ${directory} cannot be read: ${String(error)}`, { cause: error });
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw identityDamaged(join(directory, FILE), "is no JSON");
  }
  if (!isChecked(parsed)) {
    throw identityDamaged(join(directory, FILE), "fails its checksum");
  }
  const format = formatOf(parsed);
  if (format !== null && format !== FORMAT && format !== CONVERTIBLE_FORMAT) {
    throw otherFormat(directory, format, [CONVERTIBLE_FORMAT, FORMAT]);
  }
  if (!isIdentity(parsed)) {
    throw identityDamaged(join(directory, FILE), "lacks fields or has wrong ones");
  }
  const { phase, clusterName, name, incarnation, clusterId, memberId, reason = "" } = parsed;
  return { format: FORMAT, phase, clusterName, name, incarnation, clusterId, memberId, reason };
}

/** Gives the directory this identity unless it has one already. Its identity is durable on return. */
export function createIdentity(directory: string, identity: Identity): void {
  createFile(join(directory, FILE), encodeIdentity(identity));
}

/** Replaces the identity; durable on return. */
export function writeIdentity(directory: string, identity: Identity): void {
  replaceFile(join(directory, FILE), encodeIdentity(identity));
}

/** Whether the text is the id of a cluster: a UUID, in lower case. */
export function isClusterId(text: string): boolean {
  return UUID_PATTERN.test(text);
}

/** Whether a file of this name may be left over from a start that crashed while it created the identity. */
export function isIdentityDraft(name: string): boolean {
  return DRAFT_PATTERN.test(name);
}

function encodeIdentity(identity: Identity): string {
  return `${JSON.stringify({ ...identity, checksum: checksumOf({ ...identity }) }, null, 2)}\n`;
}

/** The checksum of the fields in a fixed order, independent of the file's layout. */
function checksumOf(fields: Readonly<Record<string, unknown>>): number {
  return crc32(JSON.stringify(FIELDS.map((name) => fields[name] ?? "")));
}

/** Whether the checksum matches, or is absent: if a bit flip changed its name, the other fields are intact. */
function isChecked(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("checksum" in value)) {
    return true;
  }
  return value.checksum === checksumOf({ ...value });
}

function formatOf(value: unknown): number | null {
  const format = typeof value === "object" && value !== null && "format" in value ? value.format : null;
  return typeof format === "number" ? format : null;
}

function isIdentity(value: unknown): value is Omit<Identity, "reason"> & Partial<Identity> {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  const fields = new Map<string, unknown>(Object.entries(value));
  const phase = fields.get("phase");
  const founded = fields.get("clusterId") !== "";
  return (
    (fields.get("format") === FORMAT || fields.get("format") === CONVERTIBLE_FORMAT) &&
    PHASES.has(phase) &&
    typeof fields.get("clusterName") === "string" &&
    typeof fields.get("name") === "string" &&
    INCARNATION_PATTERN.test(String(fields.get("incarnation"))) &&
    (!founded || isClusterId(String(fields.get("clusterId")))) &&
    Number.isSafeInteger(fields.get("memberId")) &&
    (phase === "empty" || (founded && Number(fields.get("memberId")) >= 1)) &&
    ["string", "undefined"].includes(typeof fields.get("reason"))
  );
}
