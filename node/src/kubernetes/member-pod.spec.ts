import { expect } from "chai";
import { FOUNDING, FoundedCluster } from "../../test/index.ts";
import { UsageError } from "../command-line/index.ts";
import type { Readiness } from "../replica/index.ts";
import { memberPodLabel, roleReportOf } from "./member-pod.ts";
import { PodLabel } from "./pod-label.ts";

const FINE: Readiness = { voter: null, leader: null, applied: null, disk: null };
const LOG = { info: () => undefined, warn: () => undefined };

describe("the role of a member for Kubernetes", () => {
  const cluster = new FoundedCluster(FOUNDING);

  function member(
    role: "leader" | "follower" | "candidate",
    { isLearner = false, readiness = FINE, memberId = 1 } = {},
  ) {
    const status = () => ({ role, isLearner, term: 7 });
    return { memberId, replica: { state: cluster.state, status, report: { readiness: () => readiness } } };
  }

  it("calls it the leader once it has committed an entry of its term, and a follower before", () => {
    const unsettled = { ...FINE, leader: "this member leads, and has not committed an entry of its term yet" };
    const told = [member("leader"), member("leader", { readiness: unsettled })].map(roleReportOf);
    expect(told.map(({ role, term }) => [role, term])).to.deep.equal([
      ["leader", 7],
      ["follower", 7],
    ]);
    const full = roleReportOf(member("leader", { readiness: { ...FINE, disk: "the disk is full" } }));
    expect(full.role).to.equal("leader");
  });

  it("calls others followers or learners, and reports no role of a member without data", () => {
    const told = [member("follower"), member("candidate"), member("follower", { isLearner: true })].map(roleReportOf);
    expect(told.map(({ role }) => role)).to.deep.equal(["follower", "follower", "learner"]);
    const none = roleReportOf({ memberId: 0, replica: null });
    expect([none.role, none.term, none.others().size]).to.deep.equal(["none", 0, 0]);
  });

  it("names the other members of the record", () => {
    expect([...roleReportOf(member("leader")).others()]).to.deep.equal([]);
    const [name] = [...roleReportOf(member("leader", { memberId: 99 })).others()];
    expect(name).to.deep.equal([FOUNDING.memberName, "follower"]);
  });

  it("is written only on request, which needs Kubernetes", () => {
    expect(memberPodLabel({ name: "demo-0", labelPodIn: null }, {}, LOG)).to.equal(null);
    const wanted = { name: "demo-0", labelPodIn: "default" };
    expect(() => memberPodLabel(wanted, {}, LOG)).to.throw(UsageError, "KUBERNETES_SERVICE_HOST");
    expect(memberPodLabel(wanted, { KUBERNETES_SERVICE_HOST: "10.96.0.1" }, LOG)).to.be.instanceOf(PodLabel);
  });
});
