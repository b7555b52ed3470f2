/**
 * What a golden cluster is made of: ids, keys and passwords that are always the same, so that its log is always the same.
 *
 * Nothing here is secret. These keys and passwords stand in a public repository, and no cluster of anybody's uses them.
 */

import { createHash, createPrivateKey, createPublicKey } from "node:crypto";
import { apiKeyPrefix, hashPassword } from "../../src/access/index.ts";
import type { Founding, Principal, SigningKey } from "../../src/state/index.ts";

export const CLUSTER_ID = "60000000-0000-4000-8000-00000000601d";
/** Ids of the clusters that take the state over, one after the other. */
export const SUCCESSOR_IDS = ["60000000-0000-4000-8000-00000000601e", "60000000-0000-4000-8000-00000000601f"] as const;
export const FOUNDING_ADDRESS = {
  peerEndpoint: "127.0.0.1:7402",
  grpcEndpoint: "127.0.0.1:7400",
  httpEndpoint: "127.0.0.1:7401",
} as const;
export const CLUSTER_NAME = "golden";
export const MEMBER_NAME = "member-0";
export const OWNER_EMAIL = "owner@golden.example";
export const OWNER_PASSWORD = "golden password of the owner";
export const OWNER_API_KEY = `qk_goldOwnr_${"G".repeat(43)}`;
export const ANNA_EMAIL = "anna@golden.example";
export const ANNA_PASSWORD = "golden password of Anna";
export const ANNA_API_KEY = `qk_goldAnna_${"A".repeat(43)}`;

export const OWNER: Principal = { subject: idOf(1), apiKeyId: "" };
/** The owner, by an API key. */
export const OWNER_BY_KEY: Principal = { subject: idOf(1), apiKeyId: idOf(2) };
/** A member with a password of version 1: the owner has changed it. */
export const ANNA: Principal = { subject: idOf(10), apiKeyId: "", passwordVersion: 1 };
/** An administrator, before and after he changes his password. */
export const BEN: Principal = { subject: idOf(11), apiKeyId: "" };
export const BEN_LATER: Principal = { ...BEN, passwordVersion: 1 };
/** Has not verified the address, so may do nothing. */
export const CARL: Principal = { subject: idOf(12), apiKeyId: "" };

/** SHA-256 of the verification token of every user. */
export const TOKEN_SHA256: Uint8Array = sha256(Buffer.from("golden verification token"));

const SEED_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const KEY_BYTES = 32;

/** A UUID that says its number. */
export function idOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
}

/** Sixteen bytes of such a UUID. */
export function idBytes(number: number): Uint8Array {
  return Buffer.from(idOf(number).replaceAll("-", ""), "hex");
}

export function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}

/** What is stored of an API key. */
export function apiKeyOf(plaintext: string): { readonly prefix: string; readonly sha256: Uint8Array } {
  const prefix = apiKeyPrefix(plaintext);
  if (prefix === null) {
    throw new Error(`${plaintext} has not the form of an API key`);
  }
  return { prefix, sha256: sha256(Buffer.from(plaintext)) };
}

/** A signing key with this number: an Ed25519 key whose seed is the number, again and again. */
export function signingKeyOf(number: number): Omit<SigningKey, "createdAtMs"> {
  const privateKey = new Uint8Array(KEY_BYTES).fill(number);
  const key = createPrivateKey({ key: Buffer.concat([SEED_PREFIX, privateKey]), format: "der", type: "pkcs8" });
  const publicKey = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-KEY_BYTES);
  return { kid: `golden-signing-key-${number}`, publicKey, privateKey };
}

/** The real hash of a password, with a salt that follows from it. */
export function passwordHashOf(password: string): Promise<string> {
  return hashPassword(password, undefined, sha256(Buffer.from(password)).subarray(0, 16));
}

export async function goldenFounding(): Promise<Founding> {
  const { kid, publicKey, privateKey } = signingKeyOf(1);
  const apiKey = apiKeyOf(OWNER_API_KEY);
  return {
    // Entries behind it raise the version.
    clusterVersion: 3,
    clusterId: CLUSTER_ID,
    clusterName: CLUSTER_NAME,
    memberName: MEMBER_NAME,
    incarnation: new Uint8Array(16).fill(0x60),
    address: FOUNDING_ADDRESS,
    owner: {
      userId: OWNER.subject,
      email: OWNER_EMAIL,
      passwordHash: await passwordHashOf(OWNER_PASSWORD),
      apiKeyId: OWNER_BY_KEY.apiKeyId,
      apiKeyPrefix: apiKey.prefix,
      apiKeySha256: apiKey.sha256,
    },
    signingKeyId: kid,
    signingPublicKey: publicKey,
    signingPrivateKey: privateKey,
    pageTokenKey: new Uint8Array(KEY_BYTES).fill(0x70),
  };
}
