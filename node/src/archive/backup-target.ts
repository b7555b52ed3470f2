/**
 * Where this member puts its backups: the store, and the keys for encryption. It reads the key file for each object, so
 * keys can be rotated without a restart. After a failure it opens the store again for the next object.
 */

import { type BackupStore, type KeyRing, readKeyFile, type StoreLocation } from "@quoin/backup";
import type { BackupLog } from "./archive-host.ts";

export interface BackupTargetOptions {
  readonly location: StoreLocation;
  /** The key file; null = backups are not encrypted. */
  readonly keyFile: string | null;
  readonly log: BackupLog;
  /** Opens the store of an address; it never creates one. Raises a StoreFailure. */
  readonly openStore: (location: StoreLocation) => Promise<BackupStore>;
}

/** An open store, and the current keys. */
export interface OpenBackupTarget {
  readonly store: BackupStore;
  /** Undefined if backups are not encrypted. */
  readonly keyRing: KeyRing | undefined;
}

export class BackupTarget {
  readonly #options: BackupTargetOptions;
  #store: Promise<BackupStore> | null = null;
  #warning: string | undefined;

  constructor(options: BackupTargetOptions) {
    this.#options = options;
  }

  get isEncrypted(): boolean {
    return this.#options.keyFile !== null;
  }

  /** The address, without secrets. */
  get address(): string {
    return addressOf(this.#options.location);
  }

  /** Raises a StoreFailure, or a BackupError if the key file is not usable. */
  async open(): Promise<OpenBackupTarget> {
    const keyRing = await this.#keys();
    this.#store ??= this.#options.openStore(this.#options.location);
    try {
      return { store: await this.#store, keyRing };
    } catch (error) {
      this.#store = null;
      throw error;
    }
  }

  /** Closes the store, so that the next use opens it again. */
  async close(): Promise<void> {
    const store = this.#store;
    this.#store = null;
    await (await store?.catch(() => undefined))?.close();
  }

  async #keys(): Promise<KeyRing | undefined> {
    const { keyFile, log } = this.#options;
    if (keyFile === null) {
      return undefined;
    }
    const { keyRing, warning } = await readKeyFile(keyFile);
    if (warning !== undefined && warning !== this.#warning) {
      log.warn({ keyFile }, warning);
    }
    this.#warning = warning;
    return keyRing;
  }
}

function addressOf(location: StoreLocation): string {
  if (location.kind === "directory") {
    return location.directory;
  }
  const { bucket, prefix, endpoint } = location;
  const query = endpoint === undefined ? "" : `?endpoint=${endpoint}`;
  return `s3://${bucket}/${prefix}${query}`;
}
