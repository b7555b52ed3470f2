/** A founding entry's content of fixed bytes, for specs that do not log in: its secrets open nothing. */

import type { Founding } from "../../src/state/index.ts";

/** User that a plain founding makes the owner. */
export const PLAIN_OWNER = { subject: "owner-1", apiKeyId: "key-1" } as const;

const CLUSTER_ID = "6f1d2c3b-4a59-4687-b0c1-d2e3f4051627";

/** `incarnation` is that of the data directory, 32 hexadecimal digits. */
export function plainFounding(incarnation: string, clusterId: string = CLUSTER_ID): Founding {
  return {
    clusterId,
    clusterName: "spec",
    memberName: "q-0",
    incarnation: Buffer.from(incarnation, "hex"),
    address: { peerEndpoint: "127.0.0.1:7402", grpcEndpoint: "127.0.0.1:7400", httpEndpoint: "127.0.0.1:7401" },
    owner: {
      userId: PLAIN_OWNER.subject,
      email: "owner@quoin.local",
      passwordHash: "none",
      apiKeyId: PLAIN_OWNER.apiKeyId,
      apiKeyPrefix: "qk_00000000",
      apiKeySha256: new Uint8Array(32).fill(1),
    },
    signingKeyId: "kid-1",
    signingPublicKey: new Uint8Array(32).fill(2),
    signingPrivateKey: new Uint8Array(32).fill(3),
    pageTokenKey: new Uint8Array(32).fill(4),
  };
}
