/**
 * The numbers of the header's fields, and the rules of the fields that snapshots and segments share. Numbers are never
 * reused.
 */

import { BackupError } from "./backup-error.ts";
import { malformed } from "./byte-cursor.ts";
import type { FieldReader, FieldWriter } from "./fields.ts";

export const FIELDS = {
  clusterId: 1,
  clusterName: 2,
  id: 3,
  quoinVersion: 4,
  clusterVersion: 5,
  index: 16,
  term: 17,
  revision: 18,
  tickMs: 19,
  wallMs: 20,
  stateDigest: 21,
  firstIndex: 32,
  lastIndex: 33,
  firstTerm: 34,
  lastTerm: 35,
  firstRevision: 36,
  lastRevision: 37,
  firstWallMs: 38,
  lastWallMs: 39,
  previousId: 40,
  previousHash: 41,
} as const;

export const KNOWN_FIELDS: ReadonlySet<number> = new Set(Object.values(FIELDS));

/** The id of an object is 16 random bytes, written as 32 hexadecimal digits. */
export const ID_BYTES = 16;
const ID = /^[0-9a-f]{32}$/;
const CLUSTER_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TEXT_LENGTH_MAX = 256;

/** The fields of both kinds of objects about their origin. */
export interface Origin {
  /** UUID of the cluster, in lower case. */
  readonly clusterId: string;
  readonly clusterName: string;
  /** 32 hexadecimal digits from `newObjectId`, new for each written object. */
  readonly id: string;
  /** The release that wrote it. */
  readonly quoinVersion: string;
  /** The version of the cluster, which determines the meaning of entries and rows. */
  readonly clusterVersion: number;
}

export function isClusterId(text: string): boolean {
  return CLUSTER_ID.test(text);
}

export function isObjectId(text: string): boolean {
  return ID.test(text);
}

export function writeOrigin(fields: FieldWriter, origin: Origin): void {
  fields.text(FIELDS.clusterId, origin.clusterId);
  fields.text(FIELDS.clusterName, origin.clusterName);
  fields.bytes(FIELDS.id, Buffer.from(origin.id, "hex"));
  fields.text(FIELDS.quoinVersion, origin.quoinVersion);
  fields.number(FIELDS.clusterVersion, origin.clusterVersion);
}

export function readOrigin(fields: FieldReader): Origin {
  return {
    clusterId: fields.text(FIELDS.clusterId),
    clusterName: fields.text(FIELDS.clusterName),
    id: readId(fields, FIELDS.id),
    quoinVersion: fields.text(FIELDS.quoinVersion),
    clusterVersion: fields.number(FIELDS.clusterVersion),
  };
}

export function readId(fields: FieldReader, field: number): string {
  return Buffer.from(fields.bytes(field, ID_BYTES)).toString("hex");
}

/** @returns the problem as a sentence that names the field and the rule; undefined if there is none */
export function originProblem({
  clusterId,
  clusterName,
  id,
  quoinVersion,
  clusterVersion,
}: Origin): string | undefined {
  if (!isClusterId(clusterId)) {
    return "clusterId must be a UUID in lower case";
  }
  if (!isObjectId(id)) {
    return "id must have 32 hexadecimal digits in lower case";
  }
  if (clusterName.length > TEXT_LENGTH_MAX) {
    return `clusterName must have at most ${TEXT_LENGTH_MAX} characters`;
  }
  if (quoinVersion.length > TEXT_LENGTH_MAX) {
    return `quoinVersion must have at most ${TEXT_LENGTH_MAX} characters`;
  }
  return numbersProblem({ clusterVersion });
}

/** The same for numbers: each is undefined, or a safe integer of at least 0. */
export function numbersProblem(numbers: Readonly<Record<string, number | undefined>>): string | undefined {
  for (const [name, value] of Object.entries(numbers)) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0)) {
      return `${name} must be an integer from 0 to 2^53 - 1`;
    }
  }
  return undefined;
}

/** For a writer: raises an error about the argument if there is a problem. */
export function requireValid(problem: string | undefined): void {
  if (problem !== undefined) {
    throw new BackupError("bad-argument", problem);
  }
}

/** For a reader: raises an error about the object if there is a problem. */
export function refuseInvalid(problem: string | undefined): void {
  if (problem !== undefined) {
    throw malformed(`the header does not follow its rules: ${problem}`);
  }
}
