/**
 * Generates everything random or secret of a new cluster before its founding entry is written, because apply must not
 * generate random numbers. The entry contains only hashes of the owner's password and API key.
 */

import { randomBytes, randomUUID } from "node:crypto";
import { invariant } from "../primitives/index.ts";
import { badField, CLUSTER_VERSION, type Founding, INCARNATION_BYTES, type MemberAddress } from "../state/index.ts";
import { apiKeyPrefix, apiKeySha256 } from "./api-key.ts";
import { requireEmail } from "./email.ts";
import { type Derive, hashPassword, requirePassword } from "./password.ts";
import { generateSigningKey } from "./signing-ring.ts";

export interface FoundingRequest {
  /** UUID in text form. */
  readonly clusterId: string;
  readonly clusterName: string;
  readonly memberName: string;
  /** 16 bytes, generated with the member's data directory. */
  readonly incarnation: Uint8Array;
  readonly address: MemberAddress;
  readonly owner: {
    readonly email: string;
    /** In plaintext, 8 to 1,024 bytes. */
    readonly password: string;
    /** In plaintext, `qk_<8>_<43>`. */
    readonly apiKey: string;
  };
}

/** What the cluster stores of an owner, except the user's id. */
export interface OwnerCredentials {
  readonly email: string;
  readonly passwordHash: string;
  /** Null = none was given. */
  readonly apiKey: { readonly apiKeyId: string; readonly prefix: string; readonly sha256: Uint8Array } | null;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const PAGE_TOKEN_KEY_BYTES = 32;

/**
 * Resolves to the content of the founding entry. Each call generates a new user id, API key id, signing key and page
 * token key. Rejects with BAD_FIELD that names `cluster_id`, `owner.email`, `owner.password` or `owner.api_key`; no
 * message repeats a secret.
 *
 * @param derive hashes the owner's password; in the thread pool by default.
 */
export async function createFounding(request: FoundingRequest, derive?: Derive): Promise<Founding> {
  const { owner } = request;
  invariant(request.incarnation.length === INCARNATION_BYTES, "incarnations have 16 bytes");
  if (!UUID.test(request.clusterId)) {
    throw badField("cluster_id", "must be a UUID in lower case");
  }
  const { email, passwordHash, apiKey } = await ownerCredentials(owner, { derive });
  if (apiKey === null) {
    throw badField(
      "owner.api_key",
      "is required: it must have the form qk_<8 base62 characters>_<43 base62 characters>",
    );
  }
  const signingKey = await generateSigningKey();
  return {
    clusterVersion: CLUSTER_VERSION,
    clusterId: request.clusterId,
    clusterName: request.clusterName,
    memberName: request.memberName,
    incarnation: request.incarnation,
    address: request.address,
    owner: {
      userId: randomUUID(),
      email,
      passwordHash,
      apiKeyId: apiKey.apiKeyId,
      apiKeyPrefix: apiKey.prefix,
      apiKeySha256: apiKey.sha256,
    },
    signingKeyId: signingKey.kid,
    signingPublicKey: signingKey.publicKey,
    signingPrivateKey: signingKey.privateKey,
    pageTokenKey: randomBytes(PAGE_TOKEN_KEY_BYTES),
  };
}

/**
 * Resolves to what the cluster stores of the owner. Rejects with BAD_FIELD that names `owner.email`, `owner.password`
 * or `owner.api_key`; no message repeats a secret.
 *
 * @param owner in plaintext; an empty API key means none.
 * @param hashing salt of 16 bytes for the hash of the password, random by default, and the function that hashes it.
 */
export async function ownerCredentials(
  owner: FoundingRequest["owner"],
  { derive, salt }: { readonly derive?: Derive | undefined; readonly salt?: Uint8Array | undefined } = {},
): Promise<OwnerCredentials> {
  requireEmail(owner.email, "owner.email");
  requirePassword(owner.password, "owner.password");
  const prefix = owner.apiKey === "" ? null : apiKeyPrefix(owner.apiKey);
  if (owner.apiKey !== "" && prefix === null) {
    throw badField("owner.api_key", "must have the form qk_<8 base62 characters>_<43 base62 characters>");
  }
  return {
    email: owner.email,
    passwordHash: await hashPassword(owner.password, derive, salt),
    apiKey: prefix === null ? null : { apiKeyId: randomUUID(), prefix, sha256: apiKeySha256(owner.apiKey) },
  };
}
