/**
 * The files that the launcher keeps beside the members' data: the record of the founding, the owner's credentials, the
 * tokens for the admin and peer ports, and the running launcher. Only their owner may read them.
 */

import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { generateApiKey } from "../src/access/index.ts";
import { replaceFile } from "../src/storage/index.ts";

/** Written before the founding and never changed: the commit point of a cluster. */
export interface ClusterRecord {
  readonly clusterId: string;
  /** Incarnation of the data directory that founds the cluster; no other one founds anything. */
  readonly founderIncarnation: string;
}

/** Addresses of all members, in order, and credentials, for quoinctl and for people. */
export interface Endpoints {
  readonly grpc: readonly string[];
  readonly http: readonly string[];
  readonly admin: readonly string[];
  readonly owner: { readonly email: string; readonly password: string };
  readonly apiKey: string;
}

/** The file with the endpoints. The API key has the name that it has over HTTP. */
interface EndpointsFile extends Omit<Endpoints, "apiKey"> {
  /** Missing in files of older launchers. */
  readonly api_key?: string;
  /** Deprecated, for older programs: the same key. */
  readonly apiKey?: string;
}

/** What a restarted member must know about the run that it belongs to. */
export interface Layout {
  readonly basePort: number;
  readonly members: number;
  /** Flags of each member, such as those of backups, besides those of its layout. They contain no secrets. */
  readonly memberFlags: readonly string[];
}

export type OwnerCredentials = Pick<Endpoints, "owner" | "apiKey">;

/** Files with tokens; processes get their paths. */
export interface TokenFiles {
  readonly admin: string;
  readonly join: string;
}

const RECORD_FILE = "cluster.json";
const ENDPOINTS_FILE = "endpoints.json";
const LAUNCHER_FILE = "launcher.json";
const ADMIN_TOKEN_FILE = "admin-token";
const JOIN_TOKEN_FILE = "join-token";
const OWNER_EMAIL = "owner@quoin.local";
const PASSWORD_BYTES = 18;
const TOKEN_BYTES = 32;

/** A file of the launcher has unexpected content. */
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

/** The file of the last run, or null before the first run; without addresses if the run ended too early. */
export function readEndpoints(directory: string): Endpoints | null {
  const path = join(directory, ENDPOINTS_FILE);
  const file = readJson(path, ["grpc", "owner"]) as EndpointsFile | null;
  if (file === null) {
    return null;
  }
  const { apiKey: deprecated, api_key: apiKey = deprecated, ...endpoints } = file;
  if (apiKey === undefined) {
    throw new ClusterFileError(`${path} does not contain the field api_key`);
  }
  return { ...endpoints, apiKey };
}

/** Credentials for the owner of a new cluster. */
export function createCredentials(): OwnerCredentials {
  return {
    owner: { email: OWNER_EMAIL, password: randomBytes(PASSWORD_BYTES).toString("base64url") },
    apiKey: generateApiKey(),
  };
}

export function writeEndpoints(directory: string, endpoints: Endpoints): string {
  const path = join(directory, ENDPOINTS_FILE);
  const file: EndpointsFile = { ...endpoints, api_key: endpoints.apiKey };
  replaceFile(path, toJson(file));
  return path;
}

/**
 * Writes a new token for the admin ports of this run, and a token for the peer ports of all runs, into files for the
 * members.
 */
export function writeTokens(directory: string): TokenFiles {
  const files = tokenFiles(directory);
  replaceFile(files.admin, `${newToken()}\n`);
  if (readIfThere(files.join) === null) {
    replaceFile(files.join, `${newToken()}\n`);
  }
  return files;
}

export function tokenFiles(directory: string): TokenFiles {
  return { admin: join(directory, ADMIN_TOKEN_FILE), join: join(directory, JOIN_TOKEN_FILE) };
}

export function readToken(file: string): string {
  return readFileSync(file, "utf8").trim();
}

/** Records that this process runs the cluster of the directory, for launchers of single members. */
export function announceLauncher(directory: string, layout: Layout): void {
  replaceFile(join(directory, LAUNCHER_FILE), toJson({ pid: process.pid, ...layout }));
}

/** Removes the record of the running launcher. */
export function retractLauncher(directory: string): void {
  rmSync(join(directory, LAUNCHER_FILE), { force: true });
}

/** The launcher that runs the cluster, or null if none does. */
export function readLauncher(directory: string): (Layout & { readonly pid: number }) | null {
  const fields = ["pid", "basePort", "members", "memberFlags"];
  const launcher = readJson(join(directory, LAUNCHER_FILE), fields) as (Layout & { readonly pid: number }) | null;
  return launcher !== null && isAlive(launcher.pid) ? launcher : null;
}

/** Records the process of a restarted member. */
export function writePid(file: string, pid: number): void {
  replaceFile(file, `${pid}\n`);
}

export function removePid(file: string): void {
  rmSync(file, { force: true });
}

/**
 * Whether the process in the file runs. If it was killed, another process may have its number by now: use this only to
 * wait for a while, never to end the process.
 */
export function isRunning(pidFile: string): boolean {
  const pid = Number(readIfThere(pidFile));
  return Number.isSafeInteger(pid) && pid > 0 && isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if (isErrorCode(error, "ESRCH")) {
      return false;
    }
    if (isErrorCode(error, "EPERM")) {
      return true;
    }
    throw error;
  }
}

function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

function toJson(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isErrorCode(error, "ENOENT")) {
      return null;
    }
    throw error;
  }
}

function readJson(path: string, fields: readonly string[]): object | null {
  const text = readIfThere(path);
  if (text === null) {
    return null;
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ClusterFileError(`${path} is not JSON`, { cause: error });
  }
  if (typeof value !== "object" || value === null || !fields.every((field) => Object.hasOwn(value, field))) {
    throw new ClusterFileError(`${path} does not contain all of the fields ${fields.join(", ")}`);
  }
  return value;
}

function isErrorCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
