import { expect } from "chai";
import { refuse, ScriptedMember } from "../../../test/index.ts";
import { QuoinError } from "../../index.ts";
import { type ClusterReport, reportMembers } from "./member-report.ts";

/** Nothing listens here: the port of an obsolete service. */
const CLOSED_ENDPOINT = "127.0.0.1:1";

const DENIED = { code: "PERMISSION_DENIED", reason: "ACCESS_DENIED", message: "admin is needed" } as const;
const WITHOUT_LEADER = {
  code: "UNAVAILABLE",
  reason: "NO_LEADER",
  message: "no leader",
  outcome: "not-executed",
} as const;

describe("reportMembers", () => {
  const members: ScriptedMember[] = [];

  afterEach(() => {
    for (const member of members.splice(0)) {
      member.stop();
    }
  });

  async function start(scripts: ScriptedMember["scripts"] = {}): Promise<ScriptedMember> {
    const member = await ScriptedMember.start(scripts);
    members.push(member);
    return member;
  }

  function report(...endpoints: string[]): Promise<ClusterReport> {
    return reportMembers({ endpoints, credentials: { token: "t" }, tls: undefined }, 5_000);
  }

  function listed(id: string, grpcEndpoint: string, leader = false, learner = false) {
    return { id, name: `m-${id}`, grpcEndpoint, httpEndpoint: "", leader, learner };
  }

  it("also queries the members that the cluster names, and orders them by id", async () => {
    const leader = await start();
    const follower = await start({
      getStatus: () => ({
        status: {
          id: "10",
          name: "m-10",
          state: 3,
          role: 2,
          term: 4n,
          appliedIndex: 90n,
          commitIndex: 95n,
          clusterId: "c",
        },
      }),
    });
    leader.scripts = {
      getCluster: () => ({
        clusterId: "c",
        members: [listed("10", follower.endpoint), listed("9", leader.endpoint, true)],
      }),
      getStatus: () => ({
        status: {
          id: "9",
          name: "m-9",
          state: 3,
          role: 1,
          term: 4n,
          appliedIndex: 100n,
          commitIndex: 100n,
          dbSizeBytes: 2_048n,
          version: "0.1.0",
          clusterId: "c",
          alarms: ["NOSPACE"],
        },
      }),
    };
    expect(await report(leader.endpoint)).to.deep.equal({
      clusterId: "c",
      members: [
        {
          id: "9",
          name: "m-9",
          endpoint: leader.endpoint,
          state: "RUNNING",
          role: "LEADER",
          term: 4,
          appliedIndex: 100,
          lag: 0,
          dbSizeBytes: 2_048,
          version: "0.1.0",
          alarms: ["NOSPACE"],
          clockAheadMs: undefined,
        },
        {
          id: "10",
          name: "m-10",
          endpoint: follower.endpoint,
          state: "RUNNING",
          role: "FOLLOWER",
          term: 4,
          appliedIndex: 90,
          lag: 10,
          dbSizeBytes: 0,
          version: "",
          alarms: [],
          clockAheadMs: undefined,
        },
      ],
      clocksDifferMs: 0,
    });
  });

  it("uses the answer of the ClusterService if the caller has no more rights", async () => {
    const member = await start({ getStatus: () => refuse(DENIED) });
    member.scripts.getCluster = () => ({
      clusterId: "c",
      members: [listed("1", member.endpoint, true), listed("2", CLOSED_ENDPOINT), listed("3", "", false, true)],
    });
    const { members: found } = await report(member.endpoint);
    expect(found.map(({ id, state, role, term }) => [id, state, role, term])).to.deep.equal([
      ["1", "UNDISCLOSED", "LEADER", undefined],
      ["2", "UNREACHABLE", "FOLLOWER", undefined],
      ["3", "UNCLAIMED", "LEARNER", undefined],
    ]);
  });

  for (const [code, reason] of [
    ["UNAUTHENTICATED", "TOKEN_INVALID"],
    ["RESOURCE_EXHAUSTED", "RATE_LIMITED"],
  ] as const) {
    it(`does not call a member unreachable that answers ${reason}`, async () => {
      const [leader, other] = [
        await start(),
        await start({ getStatus: () => refuse({ code, reason, message: "no" }) }),
      ];
      const members = [listed("1", leader.endpoint, true), listed("2", other.endpoint), listed("3", CLOSED_ENDPOINT)];
      leader.scripts = {
        getCluster: () => ({ clusterId: "c", members }),
        getStatus: () => ({ status: { id: "1", name: "m-1", state: 3, role: 1, clusterId: "c" } }),
      };
      const { members: found } = await report(leader.endpoint);
      expect(found.map(({ id, state }) => [id, state])).to.deep.equal([
        ["1", "RUNNING"],
        ["2", "UNDISCLOSED"],
        ["3", "UNREACHABLE"],
      ]);
    });
  }

  it("reports each member's own status and the members that it knows, if there is no leader", async () => {
    const member = await start({
      getCluster: () => refuse(WITHOUT_LEADER),
      getStatus: () => ({
        status: { id: "1", name: "m-1", state: 3, role: 3, clusterId: "c" },
        known: {
          members: [
            { id: "1", voter: true },
            { id: "2", name: "m-2", grpcEndpoint: CLOSED_ENDPOINT, voter: true },
          ],
        },
      }),
    });
    const { clusterId, members: found } = await report(member.endpoint);
    expect(clusterId).to.equal("c");
    expect(found.map(({ id, name, state, role }) => [id, name, state, role])).to.deep.equal([
      ["1", "m-1", "RUNNING", "CANDIDATE"],
      ["2", "m-2", "UNREACHABLE", undefined],
    ]);
  });

  it("lists a member with two endpoints once, and an endpoint without a member if there is no answer", async () => {
    const member = await start({
      getCluster: () => refuse(WITHOUT_LEADER),
      getStatus: () => ({ status: { id: "1", state: 3 } }),
    });
    const other = `localhost:${member.endpoint.split(":")[1]}`;
    const { members: found } = await report(member.endpoint, other, CLOSED_ENDPOINT);
    expect(found.map(({ id, state, endpoint }) => [id, state, endpoint])).to.deep.equal([
      ["1", "RUNNING", member.endpoint],
      ["", "UNREACHABLE", CLOSED_ENDPOINT],
    ]);
  });

  it("recognizes a member that has not joined a cluster", async () => {
    const member = await start({
      getCluster: () => refuse({ code: "UNIMPLEMENTED" }),
      getStatus: () => ({ status: { name: "m-0", state: 1 } }),
    });
    const { clusterId, members: found } = await report(member.endpoint);
    expect(clusterId).to.equal(undefined);
    expect(found.map(({ name, state, role }) => [name, state, role])).to.deep.equal([["m-0", "EMPTY", undefined]]);
  });

  it("distinguishes a member that serves nothing from one that does not answer", async () => {
    const silent = await start({ getStatus: () => refuse(WITHOUT_LEADER) });
    const unknown = await start({ getStatus: () => refuse(WITHOUT_LEADER) });
    const member = await start({ getStatus: () => ({ status: { id: "1", state: 3 } }) });
    member.scripts.getCluster = () => ({ members: [listed("2", silent.endpoint), listed("3", CLOSED_ENDPOINT)] });
    silent.scripts.getCluster = member.scripts.getCluster;
    unknown.scripts.getCluster = member.scripts.getCluster;
    const { members: found } = await report(member.endpoint, unknown.endpoint);
    expect(found.map(({ id, state, endpoint }) => [id, state, endpoint])).to.deep.equal([
      ["1", "RUNNING", member.endpoint],
      ["2", "NOT_SERVING", silent.endpoint],
      ["3", "UNREACHABLE", CLOSED_ENDPOINT],
      ["", "NOT_SERVING", unknown.endpoint],
    ]);
  });

  it("tells how far clocks are ahead, and by how much they certainly differ", async () => {
    const clockMs = (aheadMs: number) => BigInt(Date.now() + aheadMs);
    const late = await start({ getStatus: () => ({ status: { id: "2", state: 3, clockMs: clockMs(-20_000) } }) });
    const old = await start({ getStatus: () => ({ status: { id: "3", state: 3 } }) });
    const early = await start({ getStatus: () => ({ status: { id: "1", state: 3, clockMs: clockMs(40_000) } }) });
    early.scripts.getCluster = () => refuse(WITHOUT_LEADER);
    const askedAtMs = Date.now();
    const { members: found, clocksDifferMs } = await report(early.endpoint, late.endpoint, old.endpoint);
    const tookMs = Date.now() - askedAtMs;
    expect(found.map(({ id }) => id)).to.deep.equal(["1", "2", "3"]);
    expect(found[0]?.clockAheadMs).to.be.within(40_000 - tookMs, 40_000 + tookMs);
    expect(found[1]?.clockAheadMs).to.be.within(-20_000 - tookMs, -20_000 + tookMs);
    expect(found[2]?.clockAheadMs).to.equal(undefined);
    expect(clocksDifferMs).to.be.within(60_000 - 2 * tookMs, 60_000);
  });

  it("fails if no member answers", async () => {
    const silent = await start({ getStatus: () => refuse(DENIED), getCluster: () => refuse(WITHOUT_LEADER) });
    for (const endpoints of [[CLOSED_ENDPOINT], [silent.endpoint]]) {
      const failure = await report(...endpoints).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(QuoinError).and.to.include({ code: "UNAVAILABLE" });
    }
  });
});
