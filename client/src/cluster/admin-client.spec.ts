import { expect } from "chai";
import { FakeRuntime, refuse, ScriptedMember } from "../../test/index.ts";
import { type AdminClient, createAdminClient, createClient, QuoinError } from "../index.ts";

const MEMBERSHIP = {
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
    member = await ScriptedMember.start();
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
      known: MEMBERSHIP,
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
    member.scripts.listMembers = () => MEMBERSHIP;
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

  it("resets the owner, with an API key only if there is one", async () => {
    member.scripts.resetOwner = () => ({ userId: "u", created: true });
    const owner = { email: "a@b.c", password: "password" };
    expect(await admin.resetOwner({ owner })).to.deep.equal({ userId: "u", created: true });
    await admin.resetOwner({ owner: { ...owner, apiKey: "qk_" } });
    expect(member.calls.map(({ request }) => request)).to.deep.equal([
      { owner: { ...owner, apiKey: "" } },
      { owner: { ...owner, apiKey: "qk_" } },
    ]);
  });

  it("adds a member, and returns its slot", async () => {
    const slot = { id: "7", name: "m-1", lagMs: 0n };
    member.scripts.addMember = () => ({ member: slot, configIndex: 7n });
    const { member: added, configIndex } = await admin.addMember("m-1", { ifConfigIndex: 5 });
    expect([added.id, added.name, added.incarnation, added.lagMs, configIndex]).to.deep.equal(["7", "m-1", "", 0, 7]);
    expect(member.calls[0]?.request).to.deep.equal({ name: "m-1", ifConfigIndex: 5n });
    member.scripts.addMember = () => ({ configIndex: 7n });
    const error = await admin.addMember("m-1").catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(QuoinError).and.to.include({ code: "INTERNAL" });
    expect(member.calls[1]?.request).to.deep.equal({ name: "m-1", ifConfigIndex: 0n });
  });

  it("promotes and removes members", async () => {
    member.scripts.promoteMembers = () => ({ configIndex: 8n });
    member.scripts.removeMembers = () => ({ configIndex: 9n });
    expect(await admin.promoteMembers(["7", "9"])).to.deep.equal({ configIndex: 8 });
    expect(await admin.removeMembers(["9"], { ifConfigIndex: 8 })).to.deep.equal({ configIndex: 9 });
    expect(member.calls.map(({ method, request }) => [method, request])).to.deep.equal([
      ["promoteMembers", { ids: ["7", "9"], ifConfigIndex: 0n }],
      ["removeMembers", { ids: ["9"], ifConfigIndex: 8n }],
    ]);
  });

  it("puts settings, and takes them back to their defaults", async () => {
    member.scripts.putSettings = ({ ifSettingsRevision = 0n }) => ({ settingsRevision: ifSettingsRevision + 1n });
    const values = new Map([
      ["token.lifetime_secs", 600],
      ["ratelimit.http.burst", null],
    ]);
    expect(await admin.putSettings(values, { ifSettingsRevision: 4 })).to.equal(5);
    expect(member.calls[0]?.request).to.deep.equal({
      values: new Map([
        ["token.lifetime_secs", "600"],
        ["ratelimit.http.burst", ""],
      ]),
      ifSettingsRevision: 4n,
    });
    expect(await admin.putSettings(new Map())).to.equal(1);
    const wrong = await admin.putSettings(new Map([["a", 0.5]])).catch((error: unknown) => error);
    expect(wrong).to.be.instanceOf(QuoinError).and.to.include({ reason: "BAD_FIELD" });
    expect(member.calls).to.have.length(2);
  });

  it("transfers the leadership, to a certain member in a certain term or to any", async () => {
    member.scripts.transferLeadership = ({ targetId }) => ({ leaderId: targetId || "9", term: 4n });
    expect(await admin.transferLeadership({ targetId: "7", ifTerm: 3 })).to.deep.equal({ leaderId: "7", term: 4 });
    expect(await admin.transferLeadership()).to.deep.equal({ leaderId: "9", term: 4 });
    expect(member.calls.map(({ request }) => request)).to.deep.equal([
      { targetId: "7", ifTerm: 3n },
      { targetId: "", ifTerm: 0n },
    ]);
  });

  it("refuses values beyond the range of the protocol, before it sends anything", async () => {
    const calls = [
      () => admin.addMember("\ud800"),
      () => admin.addMember("m", { ifConfigIndex: 0.5 }),
      () => admin.promoteMembers(["\ud800"]),
      () => admin.removeMembers(["1"], { ifConfigIndex: 2 ** 53 }),
      () => admin.transferLeadership({ targetId: "\ud800" }),
      () => admin.transferLeadership({ ifTerm: Number.NaN }),
    ];
    const fields = [];
    for (const call of calls) {
      const error = await call().catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(QuoinError).and.to.include({ reason: "BAD_FIELD", outcome: "not-executed" });
      fields.push((error as QuoinError).details.get("field"));
    }
    expect(fields).to.deep.equal(["name", "ifConfigIndex", "ids", "ifConfigIndex", "targetId", "ifTerm"]);
    expect(member.calls).to.have.length(0);
  });

  it("passes on the reason of a refused change", async () => {
    member.scripts.promoteMembers = () =>
      refuse({ code: "FAILED_PRECONDITION", reason: "LEARNER_NOT_READY", message: "m-1 has not caught up" });
    const error = await admin.promoteMembers(["7"]).catch((thrown: unknown) => thrown);
    expect(error).to.include({
      reason: "LEARNER_NOT_READY",
      message: "m-1 has not caught up",
      outcome: "not-executed",
    });
    expect(member.calls, "a retry would not help").to.have.length(1);
  });

  it("with several members, it retries at the leader, with the same request id", async () => {
    const leader = await ScriptedMember.start({ addMember: () => ({ member: { id: "7" }, configIndex: 7n }) });
    const cluster = createAdminClient({
      endpoints: [member.endpoint],
      credentials: { token: "t" },
      runtime: new FakeRuntime(),
    });
    try {
      member.scripts.addMember = () =>
        refuse({ code: "UNAVAILABLE", outcome: "unknown", leaderEndpoint: leader.endpoint });
      expect((await cluster.addMember("m-1")).member.id).to.equal("7");
      expect([member.calls.length, leader.calls.length]).to.deep.equal([1, 1]);
      expect(leader.calls[0]?.requestId).to.deep.equal(member.calls[0]?.requestId);
    } finally {
      cluster.close();
      leader.stop();
    }
  });

  it("with several members, it retries at the next one if one is unavailable and names no leader", async () => {
    const other = await ScriptedMember.start({ removeMembers: () => ({ configIndex: 7n }) });
    const runtime = new FakeRuntime();
    runtime.chance = 0;
    const endpoints = [member.endpoint, other.endpoint];
    const cluster = createAdminClient({ endpoints, credentials: { token: "t" }, runtime });
    try {
      member.scripts.removeMembers = () => refuse({ code: "UNAVAILABLE", outcome: "not-executed" });
      expect(await cluster.removeMembers(["3"])).to.deep.equal({ configIndex: 7 });
      expect([member.calls.length, other.calls.length]).to.deep.equal([1, 1]);
    } finally {
      cluster.close();
      other.stop();
    }
  });

  it("discards history", async () => {
    member.scripts.compact = ({ revision }) => ({ compactRevision: revision - 1n });
    expect(await admin.compact(8)).to.equal(7);
    expect(member.calls[0]?.request).to.deep.equal({ revision: 8n });
  });

  it("needs at least one endpoint, each as host:port", () => {
    for (const options of [{ endpoint: "nowhere" }, { endpoints: [] }, { endpoints: ["h:1", "nowhere"] }]) {
      expect(() => createAdminClient({ ...options, credentials: { token: "t" } })).to.throw(QuoinError, "host:port");
    }
  });

  it("with one member, it stays with that one, whichever member leads", async () => {
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
