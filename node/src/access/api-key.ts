/**
 * API keys: `qk_<id>_<secret>` in base62. The id has 8 characters, the secret has 43, which are 256 bits.
 *
 * The id is public and identifies the record. The cluster stores only the SHA-256 of the whole text: 256 random bits
 * cannot be guessed, so no slow hash is needed.
 */

import { createHash, randomInt, randomUUID, timingSafeEqual } from "node:crypto";

const SCHEME = "qk_";
const ID_LENGTH = 8;
const SECRET_LENGTH = 43;
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const API_KEY = new RegExp(`^(${SCHEME}[0-9A-Za-z]{${ID_LENGTH}})_[0-9A-Za-z]{${SECRET_LENGTH}}$`);

/** A new API key, and the data that the cluster stores of it. */
export interface ApiKeyMaterial {
  /** In plaintext; shown once and never stored. */
  readonly apiKey: string;
  readonly apiKeyId: string;
  readonly prefix: string;
  readonly sha256: Uint8Array;
}

/** Creates a new API key with its own id. */
export function createApiKeyMaterial(): ApiKeyMaterial {
  const apiKey = generateApiKey();
  const prefix = apiKey.slice(0, SCHEME.length + ID_LENGTH);
  return { apiKey, apiKeyId: randomUUID(), prefix, sha256: apiKeySha256(apiKey) };
}

/** Generates the text of a new API key. */
export function generateApiKey(): string {
  return `${SCHEME}${randomBase62(ID_LENGTH)}_${randomBase62(SECRET_LENGTH)}`;
}

/** Returns the public part of an API key, `qk_` and its id; null if the text is not an API key. */
export function apiKeyPrefix(apiKey: string): string | null {
  return API_KEY.exec(apiKey)?.[1] ?? null;
}

/** Returns the SHA-256 of an API key, which the cluster stores. */
export function apiKeySha256(apiKey: string): Uint8Array {
  return createHash("sha256").update(apiKey).digest();
}

/** Whether the API key has this SHA-256. Takes the same time wherever they differ (S42). */
export function matchesApiKey(apiKey: string, sha256: Uint8Array): boolean {
  return timingSafeEqual(apiKeySha256(apiKey), sha256);
}

function randomBase62(length: number): string {
  let text = "";
  while (text.length < length) {
    text += BASE62[randomInt(BASE62.length)];
  }
  return text;
}
