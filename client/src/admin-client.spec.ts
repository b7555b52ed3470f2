import { expect } from "chai";
import { FakeRuntime, refuse, ScriptedMember } from "../test/index.ts";
import { type AdminClient, createAdminClient, createClient, QuoinError } from "./index.ts";

const membership = {
  clusterId: "c",
  term: 3n,
  configIndex: 1n,
  commitIndex: 9n,
  changing: false,
  leaderId: "1",
  members: [
    {
      id: "1",
      name: "m-0",
      peerEndpoint: "",
      grpcEndpoint: "h:7400",
      httpEndpoint: "h:7401",
      voter: true,
      incarnation: "i",
      lagMs: 0n,
      contactAgeMs: 12n,
      promotable: false,
    },
  ],
};

describe("AdminClient", () => {
  let member: ScriptedMember;
  let admin: AdminClient;

  beforeEach(async () => {
    member = await ScriptedMember.start({});
    admin = createAdminClient({
      endpoint: member.endpoint,
      credentials: { token: "admin-token" },
      runtime: new FakeRuntime(),
    });
  });

  afterEach(() => {
    admin.close();
    member.stop();
  });

  it("gets the status of the member, with the names of state and role, and counts as numbers", async () => {
    member.scripts.getStatus = () => ({
      status: { id: "1", state: 3, role: 1, term: 3n, dbSizeBytes: 2n ** 40n, alarms: ["NOSPACE"] },
      known: membership,
    });
    const { status, known } = await admin.getStatus();
    expect(status).to.deep.include({
      id: "1",
      state: "RUNNING",
      role: "LEADER",
      term: 3,
      dbSizeBytes: 2 ** 40,
      alarms: ["NOSPACE"],
      appliedIndex: 0,
    });
    expect(known?.members[0]).to.deep.include({ id: "1", contactAgeMs: 12, voter: true });
    expect(member.calls[0]?.authorization).to.deep.equal(["Bearer admin-token"]);
  });

  it("has a form for states and roles that are newer than this client, and for a member without a membership", async () => {
    member.scripts.getStatus = () => ({ status: { state: 77 as 3, role: 78 as 1 } });
    const { status, known } = await admin.getStatus();
    expect(status).to.include({ state: "77", role: "78" });
    expect(known).to.equal(undefined);
  });

  it("does not take an answer without status for one", async () => {
    member.scripts.getStatus = () => ({});
    const error = await admin.getStatus().catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(QuoinError).and.to.include({ code: "INTERNAL" });
  });

  it("lists the members", async () => {
    member.scripts.listMembers = () => membership;
    expect(await admin.listMembers()).to.deep.include({ clusterId: "c", term: 3, commitIndex: 9, leaderId: "1" });
  });

  it("founds a cluster, and repeats that with the same request id", async () => {
    const requestId = "00000000-0000-4000-8000-000000000001";
    let attempts = 0;
    member.scripts.bootstrap = () => {
      attempts += 1;
      return attempts === 1 ? refuse({ code: "UNAVAILABLE", outcome: "unknown" }) : { memberId: "1" };
    };
    const owner = { email: "a@b.c", password: "password", apiKey: "qk_" };
    const options = { clusterId: "c", incarnation: "i", owner, requestId };
    expect(await admin.bootstrap(options)).to.deep.equal({ memberId: "1" });
    expect(member.calls.map((call) => call.requestId)).to.deep.equal([[requestId], [requestId]]);
    expect(member.calls[0]?.request).to.deep.equal({ clusterId: "c", incarnation: "i", owner });
  });

  it("stays with its member, whoever leads", async () => {
    const leader = await ScriptedMember.start({ getStatus: () => ({ status: { id: "2" } }) });
    try {
      member.scripts.getStatus = () => refuse({ code: "UNAVAILABLE", leaderEndpoint: leader.endpoint });
      const error = await admin.getStatus().catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: "UNAVAILABLE", leaderEndpoint: leader.endpoint });
      expect([member.calls.length, leader.calls.length]).to.deep.equal([4, 0]);
    } finally {
      leader.stop();
    }
  });
});

describe("ClusterClient", () => {
  it("gets the members and the leader", async () => {
    const listed = {
      id: "1",
      name: "m-0",
      grpcEndpoint: "h:7400",
      httpEndpoint: "h:7401",
      learner: false,
      leader: true,
    };
    const member = await ScriptedMember.start({
      getCluster: () => ({ clusterId: "c", members: [listed], leaderId: "1", term: 3n, revision: 5n }),
    });
    const client = createClient({ endpoints: [member.endpoint], credentials: { token: "t" } });
    try {
      expect(await client.cluster.getCluster()).to.deep.equal({
        clusterId: "c",
        members: [listed],
        leaderId: "1",
        term: 3,
        revision: 5,
      });
    } finally {
      client.close();
      member.stop();
    }
  });
});
