import { CounterSample, MemberRole, MemberState, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { type FieldsOf, type GrpcCaller, GrpcPorts, ok, SingleMember, verdict } from "../../../test/harness/index.ts";
import { MemberInspection } from "./member-inspection.ts";

const service = serviceDefinitions.ClusterAdminService;
const DENIED = ["PERMISSION_DENIED", "ACCESS_DENIED"];
const NO_NAMESPACE = ["PERMISSION_DENIED", "NAMESPACE_DENIED"];

describe("ClusterAdminService, counters and settings", () => {
  let ports: GrpcPorts;

  beforeEach(async () => {
    ports = await GrpcPorts.founded();
  });

  afterEach(() => ports.close());

  const counters = (fields: FieldsOf<typeof service.getMemberCounters> = {}, caller = ports.owner) =>
    caller.ask(service.getMemberCounters, fields);
  const settings = (caller = ports.owner) => caller.ask(service.getSettings, {});
  const bad = (field: string) => ["INVALID_ARGUMENT", "BAD_FIELD", field];

  /** Adds a member, which no process has claimed, and returns its id. */
  function addMember(name: string): number {
    const outcome = ports.replica.change({
      subject: ports.member.cluster.ownerId,
      request: null,
      expectIndex: 0,
      operation: { kind: "add-slot", name },
    });
    return "memberId" in outcome.answer ? outcome.answer.memberId : 0;
  }

  it("returns the state of this member and its samples", async () => {
    ports.samples.push(
      CounterSample.fromPartial({ atMs: 5n, intervalMs: 5_000 }),
      CounterSample.fromPartial({ atMs: 9n }),
    );
    for (const caller of [ports.owner, ports.admin]) {
      const { members, answeredBy } = ok(await counters({}, caller));
      expect([members.length, answeredBy]).deep.equal([1, "1"]);
      const [own] = members;
      expect(own).include({ id: "1", name: "member-0", problem: "" });
      expect(own?.status).include({ state: MemberState.RUNNING, role: MemberRole.LEADER, version: "0.0.0-spec" });
      expect(own?.samples.map(({ atMs }) => atMs)).deep.equal([5n, 9n]);
    }
  });

  it("asks the other members, and reports those that do not answer", async () => {
    const [second, third] = [addMember("member-1"), addMember("member-2")];
    const other = new SingleMember("09".repeat(16));
    const inspection = new MemberInspection(other, {
      samplesOf: (windowMs) => [CounterSample.fromPartial({ atMs: BigInt(windowMs) })],
    });
    ports.replica.otherMembers.set(second, (question) => inspection.answer(question));
    const { members } = ok(await counters({ windowSeconds: 7 }));
    expect(members.map(({ id, name, problem }) => [id, name, problem])).deep.equal([
      ["1", "member-0", ""],
      [String(second), "member-1", ""],
      [String(third), "member-2", `member ${third} is away`],
    ]);
    expect(members[1]?.samples.map(({ atMs }) => atMs)).deep.equal([7_000n]);
    expect(members[1]?.status?.state).equal(MemberState.EMPTY);
    expect([members[2]?.status, members[2]?.samples]).deep.equal([undefined, []]);
    const some = ok(await counters({ ids: [String(third), "1"] }));
    expect(some.members.map(({ id }) => id)).deep.equal([String(third), "1"]);
  });

  it("asks the other members once a second for all callers, and again when the leader has changed", async () => {
    const second = addMember("member-1");
    const inspection = new MemberInspection(new SingleMember("09".repeat(16)), { samplesOf: () => [] });
    let questions = 0;
    ports.replica.otherMembers.set(second, (question) => {
      questions++;
      return inspection.answer(question);
    });
    const polls = (windowSeconds = 30) => Promise.all([counters({ windowSeconds }), counters({ windowSeconds })]);
    const [first, other] = (await polls()).map(ok);
    expect(first?.members).deep.equal(other?.members);
    expect(first?.members[1]).include({ name: "member-1", problem: "" });
    expect(questions, "at the same time").equal(1);
    await polls(60);
    expect(questions, "with another window").equal(2);
    await polls(60);
    expect(questions, "in the same second").equal(2);
    ports.elapse(1_000);
    await polls(60);
    expect(questions, "a second later").equal(3);
    ports.replica.term++;
    await polls(60);
    expect(questions, "in another term").equal(4);
    await counters({ windowSeconds: 60, ids: [String(second)] });
    expect(questions, "of named members").equal(5);
  });

  it("survives an answer that is no message", async () => {
    const second = addMember("member-1");
    ports.replica.otherMembers.set(second, () => Uint8Array.of(0xff));
    const { members } = ok(await counters({ ids: [String(second)] }));
    expect(members[0]?.problem).not.equal("");
  });

  it("answers no question of another member that it does not know", () => {
    expect(ports.inspection.answer(new Uint8Array(0))).equal(null);
    expect(ports.inspection.answer(Uint8Array.of(99, 1, 2))).equal(null);
    expect(ports.inspection.answer(Uint8Array.of(1, 0xff)), "no message").equal(null);
    expect(ports.inspection.answer(Uint8Array.of(2, 0xff)), "no message").equal(null);
  });

  it("needs an administrator of all namespaces, and refuses fields by name", async () => {
    const member = ports.caller(await ports.token({ role: "member" }));
    const elsewhere = ports.caller(await ports.token({ namespaces: ["default"] }));
    for (const call of [(caller: GrpcCaller) => counters({ windowSeconds: -1 }, caller), settings]) {
      expect(verdict(await call(member))).deep.equal(DENIED);
      expect(verdict(await call(elsewhere))).deep.equal(NO_NAMESPACE);
    }
    expect(verdict(await counters({ windowSeconds: 901 }))).deep.equal(bad("window_seconds"));
    expect(verdict(await counters({ windowSeconds: -1 }))).deep.equal(bad("window_seconds"));
    expect(verdict(await counters({ ids: ["x"] }))).deep.equal(bad("ids"));
    expect(verdict(await counters({ ids: ["1", "1"] }))).deep.equal(bad("ids"));
    expect(verdict(await counters({ ids: ["77"] }))).deep.equal(["NOT_FOUND", "MEMBER_NOT_FOUND"]);
  });

  it("returns all settings with their values, defaults and bounds", async () => {
    const before = ok(await settings());
    expect(before.settingsRevision).equal(0n);
    const names = before.settings.map(({ name }) => name);
    expect([...names].sort()).deep.equal(names);
    const values = new Map([["token.lifetime_secs", "600"]]);
    ok(await ports.owner.ask(service.putSettings, { values }));
    const after = ok(await settings(ports.admin));
    expect(after.settingsRevision).equal(1n);
    const found = new Map(after.settings.map(({ name, ...rest }) => [name, rest]));
    expect(found.get("token.lifetime_secs")).deep.equal({ value: "600", defaultValue: "3600", min: 1n, max: 86_400n });
    expect(found.get("quota.namespace.locks")).include({ value: "", defaultValue: "1000000" });
    expect(found.get("history.age_secs")?.defaultValue).match(/^[1-9][0-9]*$/);
    expect(found.get("ratelimit.grpc.requests")).include({ value: "", defaultValue: "" });
    expect(found.size).equal(names.length);
  });
});
