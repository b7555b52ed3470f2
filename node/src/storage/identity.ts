/**
 * Who this data directory belongs to: minted with it, before anything else, and never made anew for data that is there.
 *
 * The incarnation tells this directory from every other that ever had the same member name. A directory in phase
 * `empty` has no cluster yet; in phase `member` it holds a member's data; in phases `removed` and `refused` it holds
 * data that must not be served any more, for the reason that is given. The file carries a checksum, so that a flipped
 * bit is called by its name and not taken for the identity of another member or the format of another release.
 */

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { createFile, replaceFile } from "./durable-file.ts";
import { identityDamaged, otherFormat } from "./refusal.ts";
import { StoreError } from "./store-error.ts";

/** Of a directory whose data was served once and never will be again. */
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
  /** Why the data is not served any more; "" in phases `empty` and `member`, and in files from before there were others. */
  readonly reason: string;
}

const FILE = "identity";
/**
 * The form of everything in the directory. Format 1 had no event logs. Format 2 kept event logs without a namespace, and
 * neither versions of passwords nor what namespaces have of their quotas.
 */
const FORMAT = 3;
/** What the checksum covers, in this order. */
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
 * The identity of the directory, or null if it has none. Raises Refused if there is one that is not whole or is of
 * another format, and a StoreError if it cannot be read.
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
  if (format !== null && format !== FORMAT) {
    throw otherFormat(directory, format, FORMAT);
  }
  if (!isIdentity(parsed)) {
    throw identityDamaged(join(directory, FILE), "lacks fields or has wrong ones");
  }
  const { phase, clusterName, name, incarnation, clusterId, memberId, reason = "" } = parsed;
  return { format: FORMAT, phase, clusterName, name, incarnation, clusterId, memberId, reason };
}

/** Gives the directory this identity unless it has one already; whichever it has is durable on return. */
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

/** Whether a file of this name may be all that is left of a start that was cut short while it made the identity. */
export function isIdentityDraft(name: string): boolean {
  return DRAFT_PATTERN.test(name);
}

function encodeIdentity(identity: Identity): string {
  return `${JSON.stringify({ ...identity, checksum: checksumOf({ ...identity }) }, null, 2)}\n`;
}

/** Of the fields in a fixed order, whatever the file's layout. */
function checksumOf(fields: Readonly<Record<string, unknown>>): number {
  return crc32(JSON.stringify(FIELDS.map((name) => fields[name] ?? "")));
}

/** Whether the checksum fits, or there is none: a file whose checksum has lost its name holds its other fields. */
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
    fields.get("format") === FORMAT &&
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
