/**
 * What the launcher keeps beside the members' own data: the record of the founding, the owner's credentials, and the
 * token for the admin ports. All of it readable by its owner alone.
 */

import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { generateApiKey } from "../src/access/index.ts";
import { replaceFile } from "../src/storage/index.ts";

/** Written before the founding, never changed: the commit point of a cluster. */
export interface ClusterRecord {
  readonly clusterId: string;
  /** Incarnation of the data directory that founds it; any other one founds nothing. */
  readonly founderIncarnation: string;
}

/** Addresses and credentials, for quoinctl and for people. */
export interface Endpoints {
  readonly grpc: readonly string[];
  readonly http: readonly string[];
  readonly admin: readonly string[];
  readonly owner: { readonly email: string; readonly password: string };
  readonly apiKey: string;
}

export type OwnerCredentials = Pick<Endpoints, "owner" | "apiKey">;

const RECORD_FILE = "cluster.json";
const ENDPOINTS_FILE = "endpoints.json";
const ADMIN_TOKEN_FILE = "admin-token";
const OWNER_EMAIL = "owner@quoin.local";
const PASSWORD_BYTES = 18;
const ADMIN_TOKEN_BYTES = 32;

/** A file of the launcher that it did not write like this. */
export class ClusterFileError extends Error {}

/** The record, or null if no cluster was founded from this directory. */
export function readRecord(directory: string): ClusterRecord | null {
  return readJson(join(directory, RECORD_FILE), ["clusterId", "founderIncarnation"]) as ClusterRecord | null;
}

/** Records that this incarnation founds a new cluster; durable on return. */
export function createRecord(directory: string, founderIncarnation: string): ClusterRecord {
  const record = { clusterId: randomUUID(), founderIncarnation };
  replaceFile(join(directory, RECORD_FILE), toJson(record));
  return record;
}

/** The owner's credentials of the last run, or null at the first. */
export function readCredentials(directory: string): OwnerCredentials | null {
  return readJson(join(directory, ENDPOINTS_FILE), ["owner", "apiKey"]) as OwnerCredentials | null;
}

/** Credentials for the owner of a cluster that is about to be founded. */
export function createCredentials(): OwnerCredentials {
  return {
    owner: { email: OWNER_EMAIL, password: randomBytes(PASSWORD_BYTES).toString("base64url") },
    apiKey: generateApiKey(),
  };
}

export function writeEndpoints(directory: string, endpoints: Endpoints): string {
  const path = join(directory, ENDPOINTS_FILE);
  replaceFile(path, toJson(endpoints));
  return path;
}

/** A new token for the admin ports of this run, in a file that the members read. */
export function writeAdminToken(directory: string): { readonly token: string; readonly path: string } {
  const token = randomBytes(ADMIN_TOKEN_BYTES).toString("base64url");
  const path = join(directory, ADMIN_TOKEN_FILE);
  replaceFile(path, `${token}\n`);
  return { token, path };
}

function toJson(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function readJson(path: string, fields: readonly string[]): object | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return null;
    }
    throw error;
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ClusterFileError(`${path} is no JSON`, { cause: error });
  }
  if (typeof value !== "object" || value === null || !fields.every((field) => Object.hasOwn(value, field))) {
    throw new ClusterFileError(`${path} lacks one of the fields ${fields.join(", ")}`);
  }
  return value;
}
