/**
 * Where this member puts its backups: the store, and the keys that seal what goes there. The file with keys is read for each
 * object, so keys are rotated without a restart. A store that has failed is opened again for the next object.
 */

import { type BackupStore, type KeyRing, readKeyFile, type StoreLocation } from "@quoin/backup";
import type { BackupLog } from "./archive-host.ts";

export interface BackupPlaceOptions {
  readonly location: StoreLocation;
  /** File with keys; null = backups are not encrypted. */
  readonly keyFile: string | null;
  readonly log: BackupLog;
  /** Opens the store of an address; it never makes one. Raises a StoreFailure. */
  readonly openStore: (location: StoreLocation) => Promise<BackupStore>;
}

/** An open store, and the keys as they are now. */
export interface OpenPlace {
  readonly store: BackupStore;
  /** Undefined if backups are not encrypted. */
  readonly keyRing: KeyRing | undefined;
}

export class BackupPlace {
  readonly #options: BackupPlaceOptions;
  #store: Promise<BackupStore> | null = null;
  #warning: string | undefined;

  constructor(options: BackupPlaceOptions) {
    this.#options = options;
  }

  get isEncrypted(): boolean {
    return this.#options.keyFile !== null;
  }

  /** The address, without secrets. */
  get address(): string {
    return addressOf(this.#options.location);
  }

  /** Raises a StoreFailure, or a BackupError if the file with keys cannot be used. */
  async open(): Promise<OpenPlace> {
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
