/**
 * The keys for backups: 32 bytes each, and several of them, so that they can be rotated. The first key encrypts new
 * objects; each key decrypts the objects that it encrypted.
 */

import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { BackupError } from "../format/index.ts";

export const KEY_BYTES = 32;
/** Fits into the head of an encrypted object. */
const KEY_ID = /^[A-Za-z0-9._-]{1,64}$/;
/** Hexadecimal digits of an id that is derived from its key. */
const DERIVED_ID_DIGITS = 16;
/** Far more than a key file has. */
const FILE_BYTES_MAX = 64 * 1024;
/**
 * The permissions of users other than the owner and the group; Kubernetes gives the group of a pod access to its
 * Secrets.
 */
const RIGHTS_OF_OTHERS = 0o007;

export interface EncryptionKey {
  readonly id: string;
  /** 32 bytes. Never printed. */
  readonly bytes: Uint8Array;
}

export class KeyRing {
  readonly #keys: ReadonlyMap<string, EncryptionKey>;
  /** The key that encrypts. */
  readonly first: EncryptionKey;

  /** Raises a BackupError (bad-key) if there is no key, a key has a wrong length, or two keys have the same id. */
  constructor(keys: readonly EncryptionKey[]) {
    const [first] = keys;
    if (first === undefined) {
      throw new BackupError("bad-key", "there is no key. Give at least one, of 32 bytes");
    }
    for (const [position, { id, bytes }] of keys.entries()) {
      if (!KEY_ID.test(id)) {
        throw new BackupError(
          "bad-key",
          `key ${position + 1} has an id that is not 1 to 64 letters, digits, dots, hyphens or underscores`,
        );
      }
      if (bytes.length !== KEY_BYTES) {
        throw new BackupError(
          "bad-key",
          `key ${id} has ${bytes.length} bytes. A key has ${KEY_BYTES}, for example of: openssl rand -base64 32`,
        );
      }
    }
    this.first = first;
    this.#keys = new Map(keys.map((key) => [key.id, key]));
    if (this.#keys.size < keys.length) {
      throw new BackupError("bad-key", "two keys have the same id. Give each its own");
    }
  }

  get(id: string): EncryptionKey | undefined {
    return this.#keys.get(id);
  }

  get ids(): string[] {
    return [...this.#keys.keys()];
  }
}

/** The keys of a file, and a warning for its owner. */
export interface KeyFile {
  readonly keyRing: KeyRing;
  /** A sentence for the log; undefined if there is no warning. */
  readonly warning: string | undefined;
}

/**
 * Reads a key file: 32 raw bytes, or one key on each line, as `id:base64` or `base64` alone; empty lines and lines that
 * begin with # are ignored. A key without an id gets one derived from it. Raises a BackupError (bad-key).
 */
export async function readKeyFile(path: string): Promise<KeyFile> {
  const { bytes, mode } = await readSmallFile(path);
  return {
    keyRing: parseKeys(bytes, path),
    warning:
      (mode & RIGHTS_OF_OTHERS) === 0
        ? undefined
        : `every user of this machine can use the keys in ${path}: its mode is ${(mode & 0o777).toString(8)}. Run: chmod 600 ${path}`,
  };
}

async function readSmallFile(path: string): Promise<{ bytes: Buffer; mode: number }> {
  try {
    const file = await open(path, "r");
    try {
      const { mode, size } = await file.stat();
      if (size > FILE_BYTES_MAX) {
        throw new BackupError(
          "bad-key",
          `${path} has ${size} bytes, more than a file with keys can have. Check its name`,
        );
      }
      return { bytes: await file.readFile(), mode };
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof Error && "code" in error && !(error instanceof BackupError)) {
      throw new BackupError("bad-key", `the file with keys cannot be read: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

/** @param name of the file, for errors */
export function parseKeys(bytes: Uint8Array, name: string): KeyRing {
  if (bytes.length === KEY_BYTES) {
    return new KeyRing([{ id: derivedId(bytes), bytes: Uint8Array.from(bytes) }]);
  }
  const keys: EncryptionKey[] = [];
  for (const [number, line] of Buffer.from(bytes).toString("utf8").split("\n").entries()) {
    const text = line.trim();
    if (text !== "" && !text.startsWith("#")) {
      keys.push(parseLine(text, `line ${number + 1} of ${name}`));
    }
  }
  if (keys.length === 0) {
    throw new BackupError("bad-key", `${name} has no key. Write one into it: openssl rand -base64 32`);
  }
  return new KeyRing(keys);
}

function parseLine(text: string, where: string): EncryptionKey {
  const colon = text.indexOf(":");
  const encoded = text.slice(colon + 1).trim();
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.length !== KEY_BYTES || bytes.toString("base64") !== encoded) {
    throw new BackupError(
      "bad-key",
      `${where} is not id:base64 with a key of ${KEY_BYTES} bytes. Make a key with: openssl rand -base64 32`,
    );
  }
  return { id: colon === -1 ? derivedId(bytes) : text.slice(0, colon).trim(), bytes };
}

/** Identifies the key and shows nothing about its bytes. */
function derivedId(bytes: Uint8Array): string {
  return createHash("sha256").update("quoin backup key id\n").update(bytes).digest("hex").slice(0, DERIVED_ID_DIGITS);
}
