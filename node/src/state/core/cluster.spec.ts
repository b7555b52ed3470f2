import { crc32 } from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import { AppliedLog, FOUNDING, MemoryStateStore } from "../../../test/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import { NO_CONFIGURATION } from "../../raft/index.ts";
import { encodeFounding } from "../cluster/index.ts";
import {
  CLUSTER_VERSION,
  CLUSTER_VERSIONS,
  type Cluster,
  readCluster,
  UnknownVersion,
  writeCluster,
} from "./cluster.ts";
import { CONFIGURATION_ROW } from "./rows.ts";
import { Transaction } from "./transaction.ts";

const ids = fc.array(fc.maxSafeNat(), { maxLength: 9 });
const text = fc.string({ unit: "grapheme", maxLength: 12 }).filter((value) => value.isWellFormed());
const member = fc.record({
  id: fc.maxSafeNat(),
  name: text,
  address: fc.record({ peerEndpoint: text, grpcEndpoint: text, httpEndpoint: text }),
  incarnation: fc.uint8Array({ minLength: 16, maxLength: 16 }),
});
const cluster: fc.Arbitrary<Cluster> = fc.record({
  clusterId: text,
  name: text,
  version: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  configuration: fc.record({
    index: fc.maxSafeNat(),
    voters: ids,
    outgoing: ids,
    learners: ids,
    learnersNext: ids,
    autoLeave: fc.boolean(),
  }),
  members: fc.array(member, { maxLength: 4 }),
});

const SMALL: Cluster = {
  clusterId: "id",
  name: "n",
  version: 1,
  configuration: { ...NO_CONFIGURATION, index: 7, voters: [7] },
  members: [
    {
      id: 7,
      name: "m",
      address: { peerEndpoint: "p", grpcEndpoint: "g", httpEndpoint: "h" },
      incarnation: new Uint8Array(16).fill(0xab),
    },
  ],
};

function storeWith(written: Cluster): MemoryStateStore {
  const store = new MemoryStateStore();
  const transaction = new Transaction(store, (previous, bytes) => crc32(bytes, previous), 0);
  writeCluster(transaction, written);
  store.write(transaction.take());
  return store;
}

describe("the cluster's record", () => {
  it("comes back as written", () => {
    fc.assert(
      fc.property(cluster, (written) => {
        expect(readCluster(storeWith(written))).to.deep.equal(written);
      }),
    );
  });

  it("has these bytes", () => {
    expect(storeWith(SMALL).get(CONFIGURATION_ROW)?.toHex()).to.equal(
      [
        "01 000000026964 000000016e 00000001",
        "0000000000000007 00000001 0000000000000007 00000000 00000000 00000000 00",
        `00000001 0000000000000007 000000016d 00000010 ${"ab".repeat(16)} 0000000170 0000000167 0000000168`,
      ]
        .join("")
        .replaceAll(" ", ""),
    );
  });

  it("is refused after every truncation, with a byte more, and in an unknown format", () => {
    const store = storeWith(SMALL);
    const row = store.get(CONFIGURATION_ROW) as Uint8Array;
    const damaged: Uint8Array[] = [Uint8Array.of(...row, 0), Uint8Array.of(2, ...row.subarray(1))];
    for (let length = 0; length < row.length; length++) {
      damaged.push(row.subarray(0, length));
    }
    for (const value of damaged) {
      store.write([{ key: CONFIGURATION_ROW, value }]);
      expect(() => readCluster(store)).to.throw(InvariantViolation);
    }
  });

  it("contains incarnations of 16 bytes, and none for unclaimed slots", () => {
    const [founder] = SMALL.members;
    const withIncarnation = (length: number): Cluster => ({
      ...SMALL,
      members: [{ ...(founder as Cluster["members"][number]), incarnation: new Uint8Array(length) }],
    });
    expect(() => storeWith(withIncarnation(15))).to.throw(InvariantViolation);
    expect(readCluster(storeWith(withIncarnation(0)))).to.deep.equal(withIncarnation(0));
  });

  describe("has a version", () => {
    const logOfVersion3 = (): AppliedLog => new AppliedLog(undefined, { ...FOUNDING, clusterVersion: 3 });
    const raise = (log: AppliedLog, version: number): void => {
      log.lead({ kind: "set-cluster-version", version });
    };
    const versionIn = (log: AppliedLog): number | undefined => readCluster(log.store)?.version;

    it("from the founding entry, whose first format implies version 3", () => {
      expect(versionIn(new AppliedLog())).to.equal(CLUSTER_VERSION);
      expect(versionIn(logOfVersion3())).to.equal(3);
      expect(encodeFounding({ ...FOUNDING, clusterVersion: 3 })[0]).to.equal(1);
      expect(encodeFounding({ ...FOUNDING, clusterVersion: 4 })[0]).to.equal(3);
    });

    it("that increases step by step, without another change of the record", () => {
      const log = logOfVersion3();
      const before = readCluster(log.store);
      raise(log, 4);
      expect(readCluster(log.store)).to.deep.equal({ ...before, version: 4 });
    });

    it("that never decreases, never skips a version, and is not raised twice", () => {
      const log = logOfVersion3();
      for (const version of [0, 2, 3, 5]) {
        raise(log, version);
        expect(versionIn(log), String(version)).to.equal(3);
      }
      raise(log, 4);
      raise(log, 4);
      expect(versionIn(log)).to.equal(4);
    });

    it("beyond which this release applies nothing, and says what to do", () => {
      const log = new AppliedLog();
      const { min, max } = CLUSTER_VERSIONS;
      expect(() => raise(log, CLUSTER_VERSION + 1)).to.throw(
        UnknownVersion,
        new RegExp(
          `to ${max + 1}, and this release knows the cluster versions ${min} to ${max}\\. .*use the release that`,
        ),
      );
    });
  });

  it("is not there before the founding, and names the founder as its only voter then", () => {
    expect(readCluster(new MemoryStateStore())).to.equal(undefined);
    expect(readCluster(new AppliedLog().store)).to.deep.equal({
      clusterId: FOUNDING.clusterId,
      name: FOUNDING.clusterName,
      version: CLUSTER_VERSION,
      configuration: { ...NO_CONFIGURATION, index: 1, voters: [1] },
      members: [{ id: 1, name: FOUNDING.memberName, address: FOUNDING.address, incarnation: FOUNDING.incarnation }],
    });
  });
});
