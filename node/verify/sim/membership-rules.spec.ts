import { crc32 } from "node:zlib";
import { expect } from "chai";
import {
  type Configuration,
  EntryType,
  encodeEntry,
  NO_CONFIGURATION,
  NO_ENVELOPE,
  sealEntry,
} from "../../src/raft/index.ts";
import { checkNeighbours, isQuorum, MembershipRules } from "./membership-rules.ts";

const CLUSTER = "3f0c2f7e-8a55-4b51-9b0e-7d6f2f4f7a10";

function voting(voters: readonly number[], outgoing: readonly number[] = []): Configuration {
  return { ...NO_CONFIGURATION, index: 1, voters, outgoing };
}

function rowOf(type: EntryType, index: number, term = 1): Uint8Array {
  const row = encodeEntry(type, NO_ENVELOPE, new Uint8Array(0));
  sealEntry(row, term, index, crc32);
  return row;
}

describe("the rules of membership", () => {
  let rules: MembershipRules;
  const write = (commit: number, ...rows: readonly Uint8Array[]): void => {
    rules.onRows(1, rows, commit, rows.length, (index) => rows[index - 1]);
  };
  beforeEach(() => {
    rules = new MembershipRules(CLUSTER);
  });

  it("I17: an id belongs to one incarnation", () => {
    rules.onIdentity(3, "aa");
    rules.onIdentity(4, "bb");
    rules.onIdentity(3, "aa");
    expect(() => rules.onIdentity(3, "bb")).to.throw("I17 an id belongs to one incarnation for ever");
  });

  it("I21: every record is that of the one cluster, with the members that there are", () => {
    const address = { peerEndpoint: "", grpcEndpoint: "", httpEndpoint: "" };
    const members = [{ id: 3, name: "member-2", address, incarnation: new Uint8Array(0) }];
    const cluster = { clusterId: CLUSTER, name: "", version: 1, configuration: voting([1]), members };
    rules.onCluster(cluster);
    rules.onIdentity(3, "aa");
    expect(() => rules.onCluster({ ...cluster, clusterId: "another" })).to.throw("I21 there is one cluster");
    const other = { id: 3, name: "member-2", address, incarnation: Uint8Array.of(0xbb) };
    expect(() => rules.onCluster({ ...cluster, members: [other] })).to.throw("I17 an id");
  });

  it("I21: only the first entry founds the cluster", () => {
    write(0, rowOf(EntryType.Bootstrap, 1), rowOf(EntryType.Command, 2));
    expect(() => write(1, rowOf(EntryType.Command, 1), rowOf(EntryType.Bootstrap, 2))).to.throw("I21 a cluster is");
  });

  it("I10: one change is pending at a time", () => {
    write(2, rowOf(EntryType.Command, 1), rowOf(EntryType.AddSlot, 2), rowOf(EntryType.Reconfigure, 3));
    expect(() =>
      write(1, rowOf(EntryType.Command, 1), rowOf(EntryType.AddSlot, 2), rowOf(EntryType.Leave, 3)),
    ).to.throw("I10 one change of the configuration is pending at a time");
  });

  it("I10: majorities of neighbours meet", () => {
    checkNeighbours(voting([1, 2, 3]), voting([1, 2, 3, 4]));
    checkNeighbours(voting([1, 2, 3]), voting([4, 5, 6], [1, 2, 3]));
    checkNeighbours(voting([4, 5, 6], [1, 2, 3]), voting([4, 5, 6]));
    checkNeighbours(NO_CONFIGURATION, voting([1]));
    const share = "I10 neighbouring configurations share a quorum";
    expect(() => checkNeighbours(voting([1, 2, 3]), voting([1, 2, 3, 4, 5]))).to.throw(share);
    expect(() => checkNeighbours(voting([1, 2, 3]), voting([3, 4, 5]))).to.throw(share);
  });

  it("a quorum of a joint configuration is one of each half", () => {
    expect(isQuorum(new Set([1, 2]), voting([1, 2, 3]))).to.equal(true);
    expect(isQuorum(new Set([1]), voting([1, 2]))).to.equal(false);
    expect(isQuorum(new Set([1, 2]), voting([1, 2, 3], [4]))).to.equal(false);
    expect(isQuorum(new Set([1, 2, 4]), voting([1, 2, 3], [4]))).to.equal(true);
  });
});
