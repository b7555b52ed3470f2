/**
 * Signing keys in the form of the crypto library.
 *
 * The ring itself is replicated state. This class imports each of its keys once and caches it by its kid. A kid always
 * names the same key, because it is the key's thumbprint. Only keys of the ring are cached, so the maps grow by one per
 * rotation.
 */

import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK } from "jose";
import { invariant } from "../primitives/index.ts";
import { readSigningKeys, type SigningKey, type StateReader } from "../state/index.ts";

const ALGORITHM = "EdDSA";
const CURVE = { kty: "OKP", crv: "Ed25519" } as const;
const KEY_BYTES = 32;

export class SigningRing {
  readonly #publicKeys = new Map<string, Promise<CryptoKey>>();
  readonly #privateKeys = new Map<string, Promise<CryptoKey>>();

  /** Resolves to the public half of this key of the ring. */
  publicKey(key: SigningKey): Promise<CryptoKey> {
    return imported(this.#publicKeys, key.kid, () => importJWK({ ...CURVE, x: base64url(key.publicKey) }, ALGORITHM));
  }

  /** Resolves to the private half of this key of the ring; it cannot be exported. */
  privateKey(key: SigningKey): Promise<CryptoKey> {
    return imported(this.#privateKeys, key.kid, () => {
      const jwk = { ...CURVE, x: base64url(key.publicKey), d: base64url(key.privateKey) };
      return importJWK(jwk, ALGORITHM, { extractable: false });
    });
  }
}

/** Generates an Ed25519 key pair: raw public key and seed, named by its thumbprint (RFC 7638). */
export async function generateSigningKey(): Promise<Omit<SigningKey, "createdAtMs">> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const { x, d } = await exportJWK(privateKey);
  invariant(x !== undefined && d !== undefined, "exported Ed25519 key pairs have both parts");
  return { kid: await calculateJwkThumbprint({ ...CURVE, x }), publicKey: keyBytes(x), privateKey: keyBytes(d) };
}

/** A public key in its published form (RFC 7517, RFC 8037 §2). */
export interface PublicJwk {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly x: string;
  readonly kid: string;
  readonly use: "sig";
  readonly alg: "EdDSA";
}

/** The public keys of the ring, newest first. They are enough to verify tokens of this cluster. */
export function publicJwks(state: StateReader): { readonly keys: readonly PublicJwk[] } {
  const keys = readSigningKeys(state).map(({ kid, publicKey }): PublicJwk => {
    return { ...CURVE, x: base64url(publicKey), kid, use: "sig", alg: ALGORITHM };
  });
  return { keys };
}

function imported(
  keys: Map<string, Promise<CryptoKey>>,
  kid: string,
  load: () => Promise<CryptoKey>,
): Promise<CryptoKey> {
  let key = keys.get(kid);
  if (key === undefined) {
    key = load();
    keys.set(kid, key);
  }
  return key;
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64url");
}

function keyBytes(text: string): Uint8Array {
  const bytes = Buffer.from(text, "base64url");
  invariant(bytes.length === KEY_BYTES, "Ed25519 keys have 32 bytes", () => String(bytes.length));
  return bytes;
}
