import { GetStatusResponse, MemberState } from "@quoin/proto";
import { expect } from "chai";
import { withEnvironment } from "../../test/index.ts";
import { comparedRunning, isAddress, livingQuorum, type RunningMember } from "./running-member.ts";
import { queryMember } from "./status-request.ts";

const VOTERS = ["1", "22", "23"];

/** A member of a cluster of three voters and a learner, without a leader unless it names one. */
function member(id: string, status: Parameters<typeof GetStatusResponse.fromPartial>[0]["status"] = {}): RunningMember {
  const slots = [...VOTERS.map((voter) => ({ id: voter, voter: true })), { id: "40", voter: false }];
  const answer = GetStatusResponse.fromPartial({
    status: { id, name: `q-${id}`, state: MemberState.RUNNING, lastIndex: 90n, lastTerm: 4n, ...status },
    known: { configIndex: 40n, members: slots },
  });
  return { address: `127.0.0.1:${id}`, status: answer.status!, known: answer.known };
}

describe("a running member that is compared", () => {
  it("is named by host:port", () => {
    for (const text of ["127.0.0.1:7403", "q-0.example:7403", "[::1]:7403"]) {
      expect(isAddress(text), text).to.equal(true);
    }
    for (const text of ["/data/q-0", "q-0", "q-0:", "q-0:0", "q-0:70000", "::1:7403", "a:b:7403", "/data:7403"]) {
      expect(isAddress(text), text).to.equal(false);
    }
  });

  it("reports where its log ends", () => {
    const { facts, problem } = comparedRunning(member("22", { commitIndex: 80n, appliedIndex: 70n }));
    expect([facts?.memberId, facts?.lastTerm, facts?.lastIndex, facts?.commitIndex, facts?.appliedIndex]).to.deep.equal(
      [...[22, 4, 90, 80, 70]],
    );
    expect([facts?.writtenAtMs, problem]).to.deep.equal([null, null]);
  });

  it("is not usable for a recovery if its data is damaged, or its release is too old to report its last term", () => {
    const damaged = comparedRunning(member("22", { state: MemberState.MEMBER_DAMAGED, alarms: ["it heals"] }));
    expect(damaged.problem).to.equal("127.0.0.1:22: the member is MEMBER_DAMAGED: it heals");
    expect(comparedRunning(member("22", { lastTerm: 0n })).problem).to.include("Stop it, and use its data directory");
  });

  it("shows a quorum that is not lost: by its leader, or by a majority of the voters", () => {
    expect(livingQuorum([member("1", { leaderId: "22" })])).to.include("member 22 leads and a majority follows it");
    expect(livingQuorum([member("1"), member("23")])).to.include("2 of 3 voters run");
    expect(livingQuorum([member("1"), member("40")]), "a learner has no vote").to.equal(null);
    const joining = member("23", { state: MemberState.JOINING, leaderId: "1" });
    expect(livingQuorum([member("1"), joining])).to.equal(null);
    expect(livingQuorum([])).to.equal(null);
  });

  it("gives the reason if there is no answer", async () => {
    // Nothing listens on port 1 of this machine.
    const answer = await queryMember("127.0.0.1:1", { token: "t", ca: null });
    expect(answer)
      .to.be.a("string")
      .and.match(/^127.0.0.1:1: .*ECONNREFUSED/);
  });

  it("is not asked by the proxy of the environment", async () => {
    const answer = await withEnvironment({ http_proxy: "http://127.0.0.1:9" }, () =>
      queryMember("127.0.0.1:1", { token: "t", ca: null }),
    );
    expect(answer).to.include("127.0.0.1:1").and.to.not.include("undefined");
    expect(answer).to.include("ECONNREFUSED 127.0.0.1:1");
  });
});
