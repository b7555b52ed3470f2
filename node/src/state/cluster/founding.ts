/**
 * The founding entry, the first of every log. It names the cluster and its first member, and creates the owner, their
 * API key, the first signing key and the namespace `default`. So there is no cluster without an owner.
 *
 * The founder makes all random and secret values before it writes the entry; apply only stores them.
 */

import { invariant } from "../../primitives/index.ts";
import { writeApiKey, writePageTokenKey, writeSigningKey, writeUser } from "../accounts/index.ts";
import {
  type ApplyContext,
  fixedBytes,
  INCARNATION_BYTES,
  type MemberAddress,
  memberAddress,
  type Reconfigure,
  RecordReader,
  RecordWriter,
  recordOf,
  text,
  writeCluster,
  writeNamespace,
} from "../core/index.ts";

/** The first user of the cluster: verified, role owner, all namespaces. */
export interface FoundingOwner {
  readonly userId: string;
  readonly email: string;
  readonly passwordHash: string;
  readonly apiKeyId: string;
  readonly apiKeyPrefix: string;
  /** SHA-256 of the plaintext API key. */
  readonly apiKeySha256: Uint8Array;
}

export interface Founding {
  /** The first cluster version of the cluster. */
  readonly clusterVersion: number;
  readonly clusterId: string;
  readonly clusterName: string;
  readonly memberName: string;
  readonly incarnation: Uint8Array;
  readonly address: MemberAddress;
  readonly owner: FoundingOwner;
  readonly signingKeyId: string;
  /** Raw Ed25519 public key and seed, 32 bytes each. */
  readonly signingPublicKey: Uint8Array;
  readonly signingPrivateKey: Uint8Array;
  /** 32 bytes. */
  readonly pageTokenKey: Uint8Array;
}

/** The namespace that every cluster starts with. */
export const DEFAULT_NAMESPACE = "default";
const OWNER_API_KEY_NAME = "owner";
/** The first format has no cluster version: it implies the only version of its releases. */
const FORMAT_WITHOUT_VERSION = 1;
/** Format 2 is a succession, which uses entries of the same type. */
const FORMAT_WITH_VERSION = 3;
const VERSION_OF_FIRST_FORMAT = 3;
const KEY_BYTES = 32;

const key = fixedBytes(KEY_BYTES);
const foundingFields = recordOf<Omit<Founding, "clusterVersion">>({
  clusterId: text,
  clusterName: text,
  memberName: text,
  incarnation: fixedBytes(INCARNATION_BYTES),
  address: memberAddress,
  owner: recordOf<FoundingOwner>({
    userId: text,
    email: text,
    passwordHash: text,
    apiKeyId: text,
    apiKeyPrefix: text,
    apiKeySha256: key,
  }),
  signingKeyId: text,
  signingPublicKey: key,
  signingPrivateKey: key,
  pageTokenKey: key,
});

export function encodeFounding(founding: Founding): Uint8Array {
  const { clusterVersion } = founding;
  const writer = new RecordWriter();
  if (clusterVersion === VERSION_OF_FIRST_FORMAT) {
    writer.uint8(FORMAT_WITHOUT_VERSION);
  } else {
    writer.uint8(FORMAT_WITH_VERSION).uint32(clusterVersion);
  }
  foundingFields.write(writer, founding);
  return writer.finish();
}

export function decodeFounding(bytes: Uint8Array): Founding {
  const reader = new RecordReader(bytes);
  const format = reader.uint8();
  const isKnown = format === FORMAT_WITHOUT_VERSION || format === FORMAT_WITH_VERSION;
  invariant(isKnown, "founding entries have a known format", () => String(format));
  const clusterVersion = format === FORMAT_WITHOUT_VERSION ? VERSION_OF_FIRST_FORMAT : reader.uint32();
  const founding = { clusterVersion, ...foundingFields.read(reader) };
  reader.end();
  return founding;
}

/** Writes everything that the founding entry creates. The founder's member id is the index of this entry. */
export function applyFounding(context: ApplyContext, founding: Founding, reconfigure: Reconfigure): void {
  const configuration = reconfigure(context.index, { type: "bootstrap" }, 0);
  invariant(typeof configuration !== "string", "a cluster is founded once", () => String(configuration));
  const { transaction, wallMs } = context;
  const { owner } = founding;
  const { index } = configuration;
  writeCluster(transaction, {
    clusterId: founding.clusterId,
    name: founding.clusterName,
    version: founding.clusterVersion,
    configuration,
    members: [{ id: index, name: founding.memberName, address: founding.address, incarnation: founding.incarnation }],
  });
  writeUser(transaction, {
    userId: owner.userId,
    email: owner.email,
    role: "owner",
    namespaces: ["*"],
    status: "active",
    passwordHash: owner.passwordHash,
    passwordVersion: 0,
    createdAtMs: wallMs,
  });
  writeApiKey(transaction, {
    apiKeyId: owner.apiKeyId,
    userId: owner.userId,
    name: OWNER_API_KEY_NAME,
    prefix: owner.apiKeyPrefix,
    sha256: owner.apiKeySha256,
    createdAtMs: wallMs,
    expiresAtMs: 0,
    revokedAtMs: 0,
    lastUsedAtMs: 0,
  });
  writeSigningKey(transaction, {
    kid: founding.signingKeyId,
    publicKey: founding.signingPublicKey,
    privateKey: founding.signingPrivateKey,
    createdAtMs: wallMs,
  });
  writePageTokenKey(transaction, founding.pageTokenKey);
  const createRevision = context.nextRevision();
  writeNamespace(transaction, DEFAULT_NAMESPACE, { createdAtMs: wallMs, createRevision, deleteRevision: 0 });
}
