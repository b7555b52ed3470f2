/**
 * Who this data directory belongs to: minted with it, before anything else, and never made anew for data that is there.
 *
 * The incarnation tells this directory from every other that ever had the same member name. A directory in phase
 * `empty` has no cluster yet; in phase `member` it holds a member's data; in phases `removed` and `refused` it holds
 * data that must not be served any more, for the reason that is given.
 */

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createFile, replaceFile } from "./durable-file.ts";
import { otherFormat } from "./refusal.ts";
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
 * The form of everything in the directory. Format 1 is that of releases without event logs, whose state has neither the
 * counts nor the rows that this one goes on with.
 */
const FORMAT = 2;
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
 * The identity of the directory, or null if it has none. Raises a StoreError if there is one that is not whole, and
 * Refused if the directory is of another format.
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
  } catch (error) {
    throw new StoreError("corruption", `the identity of ${directory} is no JSON`, { cause: error });
  }
  const format = formatOf(parsed);
  if (format !== null && format !== FORMAT) {
    throw otherFormat(directory, format, FORMAT);
  }
  if (!isIdentity(parsed)) {
    throw new StoreError("corruption", `the identity of ${directory} lacks fields or has wrong ones`);
  }
  return { ...parsed, reason: parsed.reason ?? "" };
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
  return `${JSON.stringify(identity, null, 2)}\n`;
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
