/** Locations of backups on the command line: a store (a directory or a bucket), or a file. */

import { readdir } from "node:fs/promises";
import path from "node:path";
import {
  type BackupStore,
  type Catalog,
  type Chain,
  type DecryptOptions,
  isClusterId,
  type KeyFile,
  listClusters,
  openStore,
  parseLocation,
  readCatalog,
  readKeyFile,
  type StoreLocation,
} from "@quoin/backup";
import { UsageError } from "../errors/index.ts";
import { statusOf } from "../files/index.ts";
import type { Session } from "../session/index.ts";
import type { CreateOptions, ListOptions, VerifyOptions } from "./backup-options.ts";

/** Fewer digits are hardly meant as an id. */
const DIGITS_MIN = 4;

/** A store, or a file; neither must exist. */
export type BackupTarget =
  | { readonly kind: "store"; readonly location: StoreLocation }
  | { readonly kind: "file"; readonly file: string; readonly exists: boolean };

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

/** The meaning of the text: a URL is a store, and so is a directory; everything else is a file. */
export async function findTarget(
  session: Session,
  text: string,
  options: Pick<CreateOptions, "credentialsFile">,
): Promise<BackupTarget> {
  const { credentialsFile } = options;
  const location = parseLocation(SCHEME.test(text) ? text : path.resolve(session.terminal.workingDirectory, text));
  if (location.kind === "s3") {
    return { kind: "store", location: credentialsFile === undefined ? location : { ...location, credentialsFile } };
  }
  if (credentialsFile !== undefined) {
    throw new UsageError("--credentials-file needs a location that begins with s3://");
  }
  const { directory } = location;
  const found = await statusOf(directory);
  if (found?.isDirectory() === true) {
    return { kind: "store", location };
  }
  if (found !== undefined) {
    return { kind: "file", file: directory, exists: true };
  }
  if (text.endsWith("/") || SCHEME.test(text)) {
    throw new UsageError(`there is no directory ${directory}`, `create it with: mkdir -m 700 ${directory}`);
  }
  return { kind: "file", file: directory, exists: false };
}

/** Runs work with the store that the text names; raises UsageError if it names a file. */
export async function withStore<Value>(
  session: Session,
  text: string,
  options: Pick<CreateOptions, "credentialsFile">,
  work: (store: BackupStore, location: StoreLocation) => Promise<Value>,
): Promise<Value> {
  const target = await findTarget(session, text, options);
  if (target.kind === "file") {
    throw new UsageError(
      target.exists ? `${target.file} is a file, and not a backup store` : `there is nothing at ${target.file}`,
      target.exists ? `read it with: quoinctl backup verify ${target.file}` : "name a directory, or s3://bucket/prefix",
    );
  }
  const store = await openStore(target.location, { create: false });
  try {
    return await work(store, target.location);
  } finally {
    await store.close();
  }
}

/** The backups of the requested cluster in a store, or of its only one; raises UsageError like chooseCluster. */
export async function readStoreCatalog(
  store: BackupStore,
  location: StoreLocation,
  { cluster }: Pick<ListOptions, "cluster">,
): Promise<Catalog> {
  return readCatalog(store, await chooseCluster(store, location, cluster));
}

/** The cluster whose backups the store has; raises UsageError if it has several, none, or not the requested one. */
async function chooseCluster(store: BackupStore, location: StoreLocation, asked: string | undefined): Promise<string> {
  if (asked !== undefined) {
    return asked;
  }
  // A directory shows its clusters directly; its other content, which may be anything, is not read.
  const [first, ...others] =
    location.kind === "directory" ? await clusterFolders(location.directory) : await listClusters(store);
  if (first === undefined) {
    throw new UsageError(
      `${store.describe()} is not a backup store: it has no backup of any cluster`,
      "check the location; see the store of a running cluster with: quoinctl backup status",
    );
  }
  if (others.length > 0) {
    throw new UsageError(
      `${store.describe()} has backups of several clusters: ${[first, ...others].join(", ")}`,
      "name one of them with --cluster ID",
    );
  }
  return first;
}

/**
 * The backup with an id, complete or as many first digits as are unambiguous, and the points that it can restore. Raises
 * UsageError unless exactly one matches.
 */
export function selectSnapshot({ chains, clusterId }: Catalog, wanted: string): Chain {
  const found = wanted.length < DIGITS_MIN ? [] : chains.filter(({ snapshot }) => snapshot.id.startsWith(wanted));
  const [first, ...others] = found;
  if (first === undefined) {
    throw new UsageError(
      `there is no backup ${wanted} of cluster ${clusterId}`,
      `give the id as backup list shows it, or at least ${DIGITS_MIN} first digits of it`,
    );
  }
  if (others.length > 0) {
    const ids = found.map(({ snapshot }) => snapshot.id).join(", ");
    throw new UsageError(`${wanted} may be any of ${ids}`, "give more digits of the id");
  }
  return first;
}

/** The names in a directory that are cluster ids. */
async function clusterFolders(directory: string): Promise<readonly string[]> {
  return (await readdir(directory)).filter(isClusterId).sort();
}

/** Raises UsageError for a directory with other content, which is hardly meant as a backup store. */
export async function assertStoreDirectory(location: StoreLocation): Promise<void> {
  if (location.kind !== "directory") {
    return;
  }
  const { directory } = location;
  const names = (await readdir(directory)).filter((name) => !name.startsWith("."));
  if (names.length === 0 || names.some(isClusterId)) {
    return;
  }
  throw new UsageError(
    `${directory} has other files and no backups, so it is not a backup store`,
    `name an empty directory, or a file in it, such as ${path.join(directory, "state.qsnap")}`,
  );
}

/** What verify and delete may read. Raises UsageError. */
export async function readDecryptOptions(
  session: Session,
  options: Pick<VerifyOptions, "keyFile" | "allowUnencrypted">,
): Promise<DecryptOptions> {
  const { keyFile, allowUnencrypted: allowsUnencrypted = false } = options;
  if (allowsUnencrypted && keyFile === undefined) {
    throw new UsageError("--allow-unencrypted needs --key-file", "without keys, nothing has to be encrypted");
  }
  return { keyRing: await readKeys(session, options), allowsUnencrypted };
}

/** The keys of --key-file; undefined without it. Warns if other users can read the file. */
export async function readKeys(
  session: Session,
  { keyFile }: Pick<CreateOptions, "keyFile">,
): Promise<KeyFile["keyRing"] | undefined> {
  if (keyFile === undefined) {
    return undefined;
  }
  const { keyRing, warning } = await readKeyFile(path.resolve(session.terminal.workingDirectory, keyFile));
  if (warning !== undefined) {
    session.warn(warning);
  }
  return keyRing;
}
