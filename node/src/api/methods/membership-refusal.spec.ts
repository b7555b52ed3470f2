import { expect } from "chai";
import { NO_CONFIGURATION } from "../../raft/index.ts";
import { type Cluster, CoordinationError } from "../../state/index.ts";
import { explainedRefusal } from "./membership-refusal.ts";

const CLUSTER: Cluster = {
  clusterId: "0d0c8c9e-6e0e-4f0f-9b7a-3a1d6d0f2a11",
  name: "spec",
  version: 1,
  configuration: { ...NO_CONFIGURATION, index: 9, voters: [1], learners: [5, 7, 9] },
  members: [slot(1, "q-0"), slot(5, "q-1"), slot(7, "q-2"), slot(9, "q-3", new Uint8Array(0))],
};

function slot(id: number, name: string, incarnation = new Uint8Array(16)) {
  return { id, name, incarnation, address: { peerEndpoint: "", grpcEndpoint: "", httpEndpoint: "" } };
}

function messageOf(reason: "MEMBER_NOT_FOUND" | "LEARNER_NOT_READY" | "QUORUM_UNSAFE", ...ids: string[]): string {
  return explainedRefusal(new CoordinationError(reason, "as it was"), ids, CLUSTER).message;
}

describe("the refusal of a change of the membership", () => {
  it("names the ids that no member has", () => {
    expect(messageOf("MEMBER_NOT_FOUND", "1", "2", "3")).equal("no member has the id 2, 3");
    expect(messageOf("MEMBER_NOT_FOUND", "1"), "it has been added since").equal("as it was");
  });

  it("names the members that no process has claimed: waiting alone does not help them", () => {
    expect(messageOf("LEARNER_NOT_READY", "1", "5", "9"))
      .include("q-3 (id 9)")
      .and.include("start one")
      .and.not.include("q-1");
  });

  it("else names the members that have no vote yet", () => {
    expect(messageOf("LEARNER_NOT_READY", "1", "5", "7"))
      .include("q-1 (id 5), q-2 (id 7)")
      .and.not.include("q-0");
    expect(messageOf("LEARNER_NOT_READY", "1"), "it votes by now").equal("as it was");
  });

  it("keeps any other reason as it is, and always the parts that programs use", () => {
    expect(messageOf("QUORUM_UNSAFE", "5")).equal("as it was");
    const details = new Map([["config_index", "9"]]);
    const refusal = new CoordinationError("LEARNER_NOT_READY", "", { details, outcome: "unknown" });
    const { reason, outcome, details: kept } = explainedRefusal(refusal, ["5"], CLUSTER);
    expect([reason, outcome, kept]).deep.equal(["LEARNER_NOT_READY", "unknown", details]);
  });
});
