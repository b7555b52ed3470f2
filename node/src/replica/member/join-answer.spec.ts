import { expect } from "chai";
import { AppliedReplica, FOUNDING } from "../../../test/index.ts";
import type { JoinAnswer, JoinRequest } from "../../peers/index.ts";
import { EntryType } from "../../raft/index.ts";
import { CLUSTER_VERSION, encodeSuccession, readCluster } from "../../state/index.ts";
import { answerJoin } from "./join-answer.ts";
import { PeerDirectory } from "./peer-directory.ts";

const CLOCK = { monotonicMs: () => 1_000, wallMs: () => 0 };
const REQUEST: JoinRequest = {
  clusterName: FOUNDING.clusterName,
  clusterId: null,
  memberId: 0,
  name: "q-1",
  incarnation: "ab".repeat(16),
  endpoints: { peerEndpoint: "q-1:7402", grpcEndpoint: "q-1:7400", httpEndpoint: "q-1:7401" },
  versions: { min: 1, max: CLUSTER_VERSION },
};
const FOUNDER = { memberId: 1, incarnation: "11".repeat(16), address: FOUNDING.address.peerEndpoint };

describe("answerJoin", () => {
  let replica: AppliedReplica;
  /** Whether everything that is applied is durable. */
  let isDurable: boolean;

  beforeEach(() => {
    replica = new AppliedReplica();
    isDurable = true;
  });

  function ask(changes: Partial<JoinRequest> = {}): Promise<JoinAnswer> {
    const directory = new PeerDirectory(replica);
    if (isDurable) {
      directory.onRecordDurable();
    }
    return answerJoin({ replica, directory }, CLOCK, { ...REQUEST, ...changes });
  }

  const applied = (): number => replica.status().appliedIndex;

  it("gives the slot of the name, with all three addresses, the members and the index as of which they are", async () => {
    const memberId = replica.addSlot("q-1");
    expect(await ask()).to.deep.equal({
      result: "ACCEPTED",
      clusterId: FOUNDING.clusterId,
      memberId,
      directory: [FOUNDER, { memberId, incarnation: REQUEST.incarnation, address: "q-1:7402" }],
      index: applied(),
    });
    const slot = readCluster(replica.state)?.members.find(({ id }) => id === memberId);
    expect(slot?.address).to.deep.equal(REQUEST.endpoints);
  });

  it("gives it again to the same directory while that is a learner: its answer may have been lost", async () => {
    const memberId = replica.addSlot("q-1");
    for (const _ of ["first", "again"]) {
      expect(await ask()).to.include({ result: "ACCEPTED", memberId });
    }
  });

  it("P61: gives it to one directory alone; another hears of it at once and without a majority", async () => {
    const memberId = replica.addSlot("q-1");
    await ask();
    replica.hasMajority = false;
    const proposed = replica.proposed.length;
    expect(await ask({ incarnation: "cd".repeat(16) })).to.deep.equal({ result: "SLOT_TAKEN", memberId });
    expect(replica.proposed).to.have.length(proposed);
  });

  it("P46: answers a voter's own directory that comes back empty that its slot is taken", async () => {
    const memberId = replica.addSlot("q-1");
    await ask();
    replica.promote(memberId);
    expect(await ask()).to.deep.equal({ result: "SLOT_TAKEN", memberId });
  });

  it("P61: of two that ask at the same time, one is given the slot", async () => {
    const memberId = replica.addSlot("q-1");
    const [first, second] = await Promise.all([ask(), ask({ incarnation: "cd".repeat(16) })]);
    expect(first).to.include({ result: "ACCEPTED", memberId });
    expect(second).to.deep.equal({ result: "SLOT_TAKEN", memberId });
  });

  it("says NO_SLOT only once it is sure, and without an entry in the log", async () => {
    const before = applied();
    expect(await ask()).to.deep.equal({ result: "NO_SLOT" });
    expect([applied(), replica.proposed]).to.deep.equal([before, []]);
    replica.hasMajority = false;
    expect(await ask()).to.deep.equal({ result: "TRY_LATER" });
  });

  it("finds a slot that it had not applied yet when it was asked", async () => {
    replica.beforeBarrier = () => {
      replica.beforeBarrier = () => undefined;
      replica.addSlot("q-1");
    };
    expect(await ask()).to.include({ result: "ACCEPTED" });
  });

  it("says TRY_LATER when there is a slot and no majority to give it", async () => {
    replica.addSlot("q-1");
    replica.hasMajority = false;
    expect(await ask()).to.deep.equal({ result: "TRY_LATER" });
  });

  it("names itself as the successor to a member of the cluster whose state it has taken over", async () => {
    const clusterId = "11111111-2222-4333-8444-555555555555";
    const { clusterName, memberName, incarnation, address, pageTokenKey } = FOUNDING;
    const succession = encodeSuccession({
      cause: "recovery",
      clusterId,
      clusterName,
      memberName,
      incarnation,
      address,
      pageTokenKey,
      lastTerm: 1,
      revisionJump: 1_000_000,
      signingKey: null,
    });
    replica.log.append(EntryType.Bootstrap, succession);
    const answer = { result: "WRONG_CLUSTER", successor: { clusterId, sinceMs: replica.log.wallMs } };
    expect(await ask({ clusterId: FOUNDING.clusterId })).to.deep.equal(answer);
    expect(await ask({ clusterId: FOUNDING.clusterId, memberId: 3 })).to.deep.equal(answer);
    expect(await ask({ clusterId: crypto.randomUUID() })).to.deep.equal({ result: "WRONG_CLUSTER" });
  });

  it("refuses who is of another cluster, by name or by id, and who cannot run the cluster's version", async () => {
    replica.addSlot("q-1");
    expect(await ask({ clusterName: "other" })).to.deep.equal({ result: "WRONG_CLUSTER" });
    expect(await ask({ clusterId: crypto.randomUUID() })).to.deep.equal({ result: "WRONG_CLUSTER" });
    for (const versions of [
      { min: CLUSTER_VERSION + 1, max: CLUSTER_VERSION + 2 },
      { min: 0, max: 0 },
      // Releases without event logs, or without their namespaces, would get commands that they do not know.
      { min: 1, max: 1 },
      { min: 1, max: 2 },
      // The previous release, which does not know the version in force.
      { min: 3, max: CLUSTER_VERSION - 1 },
    ]) {
      expect(await ask({ versions })).to.deep.equal({ result: "VERSION" });
    }
    expect(await ask({ clusterId: FOUNDING.clusterId })).to.include({ result: "ACCEPTED" });
  });

  describe("to a process that has its slot", () => {
    it("returns the members at once, also when it is a voter and there is no majority", async () => {
      const memberId = replica.addSlot("q-1");
      await ask();
      replica.promote(memberId);
      replica.hasMajority = false;
      const answer = await ask({ memberId });
      expect(answer).to.include({ result: "ACCEPTED", memberId, index: applied() });
      expect(answer.result === "ACCEPTED" && answer.directory).to.have.length(2);
    });

    it("says REMOVED once that is certain: its id is applied and durable, for a majority too, and no member's", async () => {
      const memberId = replica.addSlot("q-1");
      await ask();
      replica.remove(memberId);
      isDurable = false;
      expect(await ask({ memberId }), "a power cut may take it back").to.deep.equal({ result: "TRY_LATER" });
      isDurable = true;
      replica.isLasting = false;
      expect(await ask({ memberId }), "so it may for others").to.deep.equal({ result: "TRY_LATER" });
      replica.isLasting = true;
      expect(await ask({ memberId })).to.deep.equal({ result: "REMOVED" });
      expect(await ask({ memberId: applied() + 1 })).to.deep.equal({ result: "TRY_LATER" });
    });

    it("says TRY_LATER while its claim is not applied here, and SLOT_TAKEN if the id is another's", async () => {
      const memberId = replica.addSlot("q-1");
      expect(await ask({ memberId })).to.deep.equal({ result: "TRY_LATER" });
      expect(await ask({ memberId: 1 })).to.deep.equal({ result: "SLOT_TAKEN", memberId: 1 });
    });
  });
});
