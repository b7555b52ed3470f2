/**
 * A caller who may only read asks for much at once: pages that cost most, all behind one read barrier. The members stay
 * who they are, and others are served in between.
 */

import { type Client, createClient } from "@quoin/client";
import { expect } from "chai";
import { ClusterUnderTest } from "../harness/index.ts";

const KEYS = 2_000;
const VALUE_BYTES = 1_000;
const LOCKS = 1_000;
const AT_A_TIME = 100;

describe("expensive reads of one caller (S44)", function () {
  this.timeout(180_000);
  let cluster: ClusterUnderTest;
  let writer: Client;

  before(async () => {
    cluster = await ClusterUnderTest.start(3);
    writer = cluster.client();
    const value = Buffer.alloc(VALUE_BYTES, "v");
    for (let from = 0; from < KEYS; from += AT_A_TIME) {
      await Promise.all(
        Array.from({ length: AT_A_TIME }, (_, at) => writer.keyValue.put("default", `key-${from + at}`, value)),
      );
    }
    for (let from = 0; from < LOCKS; from += AT_A_TIME) {
      await Promise.all(
        Array.from({ length: AT_A_TIME }, (_, at) => writer.locks.create("default", `lock-${from + at}`)),
      );
    }
  });

  ClusterUnderTest.describeFailures(() => cluster);

  after(() => cluster?.dispose());

  /** What a caller asks for at once; each call is a page. */
  const asked: readonly [string, number, (client: Client) => Promise<unknown>][] = [
    [
      "versions of a key that never was",
      200,
      (client) => client.keyValue.versions("default", "absent", { timeoutMs: 60_000 }),
    ],
    ["locks", 500, (client) => client.locks.list("default", { pageSize: 1_000, timeoutMs: 60_000 })],
    [
      "keys with their values",
      200,
      (client) => client.keyValue.list("default", { pageSize: 1_000, timeoutMs: 60_000 }),
    ],
  ];

  for (const [what, count, page] of asked) {
    it(`depose no leader: ${count} pages of ${what}`, async () => {
      const leader = await cluster.leader();
      const before = await leader.status();
      const greedy = createClient({ endpoints: [leader.grpc], credentials: { token: await cluster.tokens.token() } });
      try {
        await Promise.all(Array.from({ length: count }, () => page(greedy)));
      } finally {
        greedy.close();
      }
      const after = await (await cluster.leader()).status();
      expect(after?.term).to.equal(before?.term);
    });
  }
});
