/**
 * The location of a store, as users write it: a path, `file:///directory`, or
 * `s3://bucket/prefix?endpoint=https://host:port&region=eu-1&path-style=true&ca-file=/path&credentials-file=/path&profile=name`.
 */

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { BackupError } from "../format/index.ts";
import { requireObjectName } from "./object-path.ts";

export interface DirectoryLocation {
  readonly kind: "directory";
  /** Absolute. */
  readonly directory: string;
}

export interface S3Location {
  readonly kind: "s3";
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  /** URL of the service; undefined = that of AWS in the region. */
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  /** Whether the bucket is in the path instead of the host name. */
  readonly pathStyle: boolean;
  /** A file with certificate authorities for the service, in addition to those that Node trusts. */
  readonly caFile: string | undefined;
  /** A file with credentials in the AWS format; undefined = those of the environment. */
  readonly credentialsFile: string | undefined;
  /** The section of that file. */
  readonly profile: string | undefined;
}

export type StoreLocation = DirectoryLocation | S3Location;

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const OPTIONS = ["endpoint", "region", "path-style", "ca-file", "credentials-file", "profile"] as const;
type Option = (typeof OPTIONS)[number];

/** Raises a BackupError (bad-argument) that names the wrong part. It never repeats a possible secret. */
export function parseLocation(text: string): StoreLocation {
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    return parsePath(text);
  }
  const url = parseUrl(text);
  if (url.username !== "" || url.password !== "") {
    throw wrong("the address must not hold credentials; they come from the environment or from credentials-file");
  }
  if (scheme === "file") {
    return parseFileUrl(url);
  }
  if (scheme === "s3") {
    return parseS3Url(url);
  }
  throw wrong(`the scheme ${scheme} is not known; it must be s3:// or file://, or a path`);
}

function parsePath(text: string): DirectoryLocation {
  if (text === "" || text.includes("\0")) {
    throw wrong("the path must not be empty");
  }
  return { kind: "directory", directory: resolve(text) };
}

function parseFileUrl(url: URL): DirectoryLocation {
  if (url.search !== "" || url.hash !== "") {
    throw wrong("a file:// address has no options");
  }
  try {
    return { kind: "directory", directory: resolve(fileURLToPath(url)) };
  } catch (error) {
    throw wrong("a file:// address must have the form file:///directory", error);
  }
}

function parseS3Url(url: URL): S3Location {
  const bucket = url.host;
  if (!BUCKET.test(bucket)) {
    throw wrong("the bucket must have 3 to 63 lower-case letters, digits, dots and hyphens, as in s3://bucket/prefix");
  }
  if (url.hash !== "") {
    throw wrong("the address must not have a #");
  }
  const prefix = url.pathname.replaceAll(/^\/+|\/+$/g, "");
  if (prefix !== "") {
    requireObjectName(prefix);
  }
  const options = parseOptions(url.searchParams);
  if (options.has("profile") && !options.has("credentials-file")) {
    throw wrong("the option profile needs the option credentials-file");
  }
  return {
    kind: "s3",
    bucket,
    prefix: prefix === "" ? "" : `${prefix}/`,
    endpoint: parseEndpoint(options.get("endpoint")),
    region: options.get("region"),
    pathStyle: parseFlag("path-style", options.get("path-style")),
    caFile: options.get("ca-file"),
    credentialsFile: options.get("credentials-file"),
    profile: options.get("profile"),
  };
}

function parseOptions(given: URLSearchParams): Map<Option, string> {
  const options = new Map<Option, string>();
  for (const [name, value] of given) {
    const option = OPTIONS.find((known) => known === name);
    if (option === undefined) {
      throw wrong(`the option ${JSON.stringify(name)} is not known; the options are ${OPTIONS.join(", ")}`);
    }
    if (options.has(option) || value === "") {
      throw wrong(`the option ${option} must be given once, with a value`);
    }
    options.set(option, value);
  }
  return options;
}

function parseEndpoint(endpoint: string | undefined): string | undefined {
  if (endpoint === undefined) {
    return undefined;
  }
  const url = parseUrl(endpoint);
  const isPlain = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!["http:", "https:"].includes(url.protocol) || !isPlain) {
    throw wrong("the endpoint must be http://host:port or https://host:port, without credentials");
  }
  return url.href;
}

function parseFlag(option: Option, value: string | undefined): boolean {
  if (value !== undefined && value !== "true" && value !== "false") {
    throw wrong(`the option ${option} must be true or false`);
  }
  return value === "true";
}

function parseUrl(text: string): URL {
  try {
    return new URL(text);
  } catch {
    // The error of URL repeats the text, which may hold a secret.
    throw wrong("the address is not a URL");
  }
}

function wrong(problem: string, cause?: unknown): BackupError {
  return new BackupError("bad-argument", `the location of the backups is not valid: ${problem}`, { cause });
}
