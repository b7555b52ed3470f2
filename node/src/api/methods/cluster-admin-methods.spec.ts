import { randomUUID } from "node:crypto";
import { GetStatusRequest, ListMembersRequest, MemberRole, MemberState, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { type Answer, GrpcPorts, type SingleReplica } from "../../../test/harness/index.ts";
import { requestOf, secrets } from "../../../test/index.ts";
import { CoordinationError, readCluster, readHistoryBounds } from "../../state/index.ts";
import type { HostMember } from "./host.ts";

const { getStatus, listMembers, addMember, promoteMembers, removeMembers, transferLeadership, compact } =
  serviceDefinitions.ClusterAdminService;
const STATUS = GetStatusRequest.create();
const MEMBERS = ListMembersRequest.create();
const STATES: readonly HostMember["state"][] = [
  ...(["EMPTY", "JOINING", "RUNNING", "MEMBER_DATA_LOST", "MEMBER_REMOVED", "MEMBER_DAMAGED"] as const),
  ...(["WRONG_CLUSTER", "MEMBER_REFUSED"] as const),
];
const ADDRESS = { peerEndpoint: "q-1:7402", grpcEndpoint: "q-1:7400", httpEndpoint: "q-1:7401" };
const INCARNATION = new Uint8Array(16).fill(9);

describe("ClusterAdminService", () => {
  describe("of an EMPTY member", () => {
    let ports: GrpcPorts;

    beforeEach(async () => {
      ports = await GrpcPorts.open();
    });

    afterEach(() => ports.close());

    it("answers GetStatus, without a membership", async () => {
      const { response } = await ports.admin.call(getStatus, STATUS);
      expect(response?.known).equal(undefined);
      expect(response?.status).deep.include({
        id: "",
        name: "member-0",
        state: MemberState.EMPTY,
        role: MemberRole.MEMBER_ROLE_UNSPECIFIED,
        clusterId: "",
        incarnation: "07".repeat(16),
        leaderId: "",
        term: 0n,
        stateHash: "",
        alarms: [],
      });
    });

    it("answers GetStatus in every state", async () => {
      for (const state of STATES) {
        ports.member.state = state;
        expect((await ports.admin.call(getStatus, STATUS)).response?.status?.state).equal(MemberState[state]);
      }
    });

    it("answers GetStatus with the problem of its data", async () => {
      ports.member.reason = "the log ends too early";
      const { response } = await ports.admin.call(getStatus, STATUS);
      expect(response?.status?.alarms).deep.equal(["the log ends too early"]);
    });

    it("has no membership to list or to change", async () => {
      for (const answer of [
        await ports.admin.call(listMembers, MEMBERS),
        await ports.admin.call(addMember, { name: "q-1", ifConfigIndex: 0n }),
        await ports.admin.call(transferLeadership, { targetId: "", ifTerm: 0n }),
        await ports.admin.call(compact, { revision: 1n }),
      ]) {
        expect(verdict(answer)).deep.equal(["UNAVAILABLE", "NO_LEADER"]);
      }
    });
  });

  describe("of a running member", () => {
    let ports: GrpcPorts;
    let replica: SingleReplica;

    beforeEach(async () => {
      ports = await GrpcPorts.founded();
      replica = ports.replica;
    });

    afterEach(() => ports.close());

    it("answers GetStatus without a barrier, with the membership that it has applied", async () => {
      const { cluster } = ports.member;
      cluster.onBarrier = (done) => done(new CoordinationError("NO_LEADER", "no leader"));
      const owner = ports.caller(await ownerToken());
      for (const caller of [ports.admin, owner]) {
        const { response } = await caller.call(getStatus, STATUS);
        const { stateHash, ...status } = response?.status ?? { stateHash: "" };
        expect(stateHash).match(/^[0-9a-f]{8}$/);
        expect(status).deep.equal({
          id: "1",
          name: "member-0",
          state: MemberState.RUNNING,
          stateForMs: 2_000n,
          role: MemberRole.LEADER,
          term: 1n,
          leaderId: "1",
          commitIndex: 1n,
          appliedIndex: 1n,
          firstIndex: 1n,
          lastIndex: 1n,
          revision: 1n,
          dbSizeBytes: 4_000n,
          diskFreeBytes: 5_000n,
          version: "0.0.0-spec",
          downgradeFloor: "0.0.0-spec",
          uptimeMs: 3_000n,
          clockMs: 1_700_000_000_000n,
          incarnation: "07".repeat(16),
          clusterId: secrets.founding.clusterId,
          alarms: [],
          stateHashIndex: 1n,
          certificateSerial: "",
          trustedCas: [],
          settingsRevision: 0n,
          lastTerm: 1n,
          foundedFrom: "",
        });
        expect(response?.known?.members.map(({ id }) => id)).deep.equal(["1"]);
      }
    });

    it("answers GetStatus as a learner with alarms", async () => {
      const id = await learner(ports, "q-1");
      replica.alarms = ["DISK_LOW"];
      ports.member.alarms = ["member 9 refuses this one"];
      ports.member.reason = "also this";
      replica.leaderId = id;
      expect((await status()).role).equal(MemberRole.FOLLOWER);
      replica.isLearner = true;
      const { role, leaderId, alarms } = await status();
      const others = ["DISK_LOW", "member 9 refuses this one"];
      expect([role, leaderId, alarms]).deep.equal([MemberRole.LEARNER, String(id), [...others, "also this"]]);

      async function status() {
        const { response } = await ports.admin.call(getStatus, STATUS);
        if (response?.status === undefined) {
          throw new Error("the member has a status");
        }
        return response.status;
      }
    });

    it("lists what the leader knows about the members, and in GetStatus only what this member knows", async () => {
      const id = await learner(ports, "q-1");
      await ports.admin.call(addMember, { name: "q-2", ifConfigIndex: 0n });
      replica.health = [
        { id: 1, lagMs: 0, contactAgeMs: 0, promotable: false },
        { id, lagMs: 1_234.5, contactAgeMs: 50, promotable: true },
      ];
      const { onMembershipView } = replica;
      replica.onMembershipView = (done) => {
        onMembershipView((error, view) => done(error, view && { ...view, term: 7, commitIndex: 99, changing: true }));
      };
      const { response } = await ports.admin.call(listMembers, MEMBERS);
      expect(response).include({ term: 7n, commitIndex: 99n, changing: true, leaderId: "1" });
      expect(response?.members.map(healthOf)).deep.equal([
        ["member-0", true, 0n, 0n, false],
        ["q-1", false, 1_235n, 50n, true],
        ["q-2", false, 0n, 0n, false],
      ]);
      expect(response?.members[1]).include({ ...ADDRESS, id: String(id), incarnation: "09".repeat(16) });
      expect(response?.members[2]).include({ peerEndpoint: "", grpcEndpoint: "", httpEndpoint: "", incarnation: "" });
      const { response: own } = await ports.admin.call(getStatus, STATUS);
      expect(own?.known?.changing).equal(false);
      expect(own?.known?.members.map(healthOf)).deep.equal([
        ["member-0", true, 0n, 0n, false],
        ["q-1", false, 0n, 0n, false],
        ["q-2", false, 0n, 0n, false],
      ]);
    });

    it("passes on why the leader cannot be asked", async () => {
      replica.onMembershipView = (done) => done(new CoordinationError("NO_LEADER", "no member leads"), null);
      const answer = await ports.admin.call(listMembers, MEMBERS);
      expect([...verdict(answer), answer.message]).deep.equal(["UNAVAILABLE", "NO_LEADER", "no member leads"]);
    });

    it("lists the members after a read barrier", async () => {
      const { cluster } = ports.member;
      for (const caller of [ports.admin, ports.caller(await ownerToken())]) {
        cluster.barriers.length = 0;
        const { response } = await caller.call(listMembers, MEMBERS);
        expect(cluster.barriers).have.length(1);
        expect(response).deep.equal({
          clusterId: secrets.founding.clusterId,
          term: 1n,
          configIndex: 1n,
          commitIndex: 1n,
          changing: false,
          leaderId: "1",
          members: [
            {
              id: "1",
              name: "member-0",
              peerEndpoint: "127.0.0.1:7402",
              grpcEndpoint: "127.0.0.1:7400",
              httpEndpoint: "127.0.0.1:7401",
              voter: true,
              incarnation: "07".repeat(16),
              lagMs: 0n,
              contactAgeMs: 0n,
              promotable: false,
            },
          ],
        });
      }
    });

    it("on the public port needs the access admin and the namespaces *", async () => {
      const cases = [
        ["member", ["*"], "ACCESS_DENIED"],
        ["admin", ["default", "prod"], "NAMESPACE_DENIED"],
      ] as const;
      for (const [role, namespaces, reason] of cases) {
        const caller = ports.caller(await ports.token({ role, namespaces }));
        for (const answer of [
          await caller.call(getStatus, STATUS),
          await caller.call(listMembers, MEMBERS),
          await caller.call(addMember, { name: "q-1", ifConfigIndex: 0n }),
          await caller.call(promoteMembers, { ids: ["1"], ifConfigIndex: 0n }),
          await caller.call(removeMembers, { ids: ["1"], ifConfigIndex: 0n }),
          await caller.call(transferLeadership, { targetId: "", ifTerm: 0n }),
          await caller.call(compact, { revision: 1n }),
        ]) {
          expect(verdict(answer)).deep.equal(["PERMISSION_DENIED", reason]);
        }
      }
      expect([replica.changes, replica.transfers]).deep.equal([[], []]);
      const admin = ports.caller(await ports.token({ role: "admin", namespaces: ["*"] }));
      expect((await admin.call(getStatus, STATUS)).code).equal("OK");
    });

    /** While barriers fail, no token can be issued. This lets barriers pass until the token is issued. */
    async function ownerToken(): Promise<string> {
      const { cluster } = ports.member;
      const { onBarrier } = cluster;
      cluster.onBarrier = (done) => done(null);
      const token = await ports.token();
      cluster.onBarrier = onBarrier;
      return token;
    }
  });

  describe("changes of the membership", () => {
    let ports: GrpcPorts;
    let replica: SingleReplica;

    beforeEach(async () => {
      ports = await GrpcPorts.founded();
      replica = ports.replica;
    });

    afterEach(() => ports.close());

    const configIndex = () => BigInt(readCluster(replica.state)?.configuration.index ?? 0);
    const names = () => readCluster(replica.state)?.members.map(({ name }) => name);

    it("add an unclaimed learner, on both ports, and return its slot", async () => {
      for (const [name, caller] of [
        ["q-1", ports.admin],
        ["q-2", ports.owner],
      ] as const) {
        const { response } = await caller.call(addMember, { name, ifConfigIndex: 0n });
        const id = String(readCluster(replica.state)?.members.at(-1)?.id);
        expect(response).deep.equal({
          configIndex: configIndex(),
          member: {
            id,
            name,
            peerEndpoint: "",
            grpcEndpoint: "",
            httpEndpoint: "",
            voter: false,
            incarnation: "",
            lagMs: 0n,
            contactAgeMs: 0n,
            promotable: false,
          },
        });
      }
      expect(names()).deep.equal(["member-0", "q-1", "q-2"]);
      expect(replica.changes.map(({ subject }) => subject)).deep.equal(["admin", ports.member.cluster.ownerId]);
    });

    it("promote and remove several members in one step, and return the new membership", async () => {
      const ids = [await learner(ports, "q-1"), await learner(ports, "q-2")].map(String);
      const promoted = await ports.admin.call(promoteMembers, { ids, ifConfigIndex: configIndex() });
      expect(promoted.response).deep.equal({ configIndex: configIndex() });
      const { configuration } = readCluster(replica.state) ?? {};
      expect(configuration?.voters.map(String)).deep.equal(["1", ...ids]);
      expect(configuration?.outgoing, "the joint configuration is left").deep.equal([]);
      expect((await ports.admin.call(promoteMembers, { ids, ifConfigIndex: 0n })).code, "again").equal("OK");
      const removed = await ports.owner.call(removeMembers, { ids, ifConfigIndex: 0n });
      expect(removed.response).deep.equal({ configIndex: configIndex() });
      expect(names()).deep.equal(["member-0"]);
      expect(replica.changes.slice(2).map(({ operation }) => operation)).deep.equal([
        { kind: "reconfigure", promote: ids.map(Number), demote: [], remove: [] },
        { kind: "reconfigure", promote: ids.map(Number), demote: [], remove: [] },
        { kind: "reconfigure", promote: [], demote: [], remove: ids.map(Number) },
      ]);
    });

    it("S12: have the same answer when they are repeated with the same request id", async () => {
      const caller = ports.owner;
      const metadata = new Map([["request-id", randomUUID()]]);
      const add = { name: "q-1", ifConfigIndex: configIndex() };
      const first = await caller.call(addMember, add, { metadata });
      expect([first.code, first.headers.get("replayed")]).deep.equal(["OK", []]);
      const again = await caller.call(addMember, add, { metadata });
      expect(again.response, "though the configuration has moved on").deep.equal(first.response);
      expect(again.headers.get("replayed")).deep.equal(["true"]);
      const reused = await caller.call(addMember, { ...add, name: "q-2" }, { metadata });
      expect(verdict(reused)).deep.equal(["INVALID_ARGUMENT", "REQUEST_ID_REUSED"]);
      const id = first.response?.member?.id ?? "";
      await ports.admin.call(removeMembers, { ids: [id], ifConfigIndex: 0n });
      const late = await caller.call(addMember, add, { metadata });
      expect(late.response?.member, "though it was removed").include({ id, name: "q-1", incarnation: "" });
      expect(names()).deep.equal(["member-0"]);
      const others = await ports.admin.call(addMember, add, { metadata });
      expect(others.reason, "rows are scoped by subject (S13)").equal("CONFIG_CHANGED");
    });

    it("are executed again after the stored answer has expired", async () => {
      const metadata = new Map([["request-id", randomUUID()]]);
      const add = { name: "q-1", ifConfigIndex: 0n };
      expect((await ports.admin.call(addMember, add, { metadata })).code).equal("OK");
      replica.tickMs += 300_001;
      expect((await ports.admin.call(addMember, add, { metadata })).reason).equal("MEMBER_EXISTS");
    });

    it("need no request id on the admin port if a condition makes them safe to repeat", async () => {
      const metadata = new Map([["request-id", null]]);
      const withCondition = await ports.admin.call(
        addMember,
        { name: "q-1", ifConfigIndex: configIndex() },
        { metadata },
      );
      expect(withCondition.code).equal("OK");
      expect(replica.changes[0]?.request).equal(null);
      const refused = [
        await ports.admin.call(addMember, { name: "q-2", ifConfigIndex: 0n }, { metadata }),
        await ports.admin.call(promoteMembers, { ids: ["1"], ifConfigIndex: 0n }, { metadata }),
        await ports.admin.call(removeMembers, { ids: ["1"], ifConfigIndex: 0n }, { metadata }),
        await ports.admin.call(transferLeadership, { targetId: "", ifTerm: 0n }, { metadata }),
      ];
      expect(refused.map((answer) => [...verdict(answer), fieldOf(answer)])).deep.equal([
        ...Array(3).fill(["INVALID_ARGUMENT", "BAD_FIELD", "if_config_index"]),
        ["INVALID_ARGUMENT", "BAD_FIELD", "if_term"],
      ]);
      expect(refused[0]?.message).include("request-id");
      expect(replica.changes).have.length(1);
      const transferred = await ports.admin.call(transferLeadership, { targetId: "1", ifTerm: 1n }, { metadata });
      expect(transferred.code).equal("OK");
      const publicly = await ports.owner.call(addMember, { name: "q-2", ifConfigIndex: 1n }, { metadata });
      expect(verdict(publicly)).deep.equal(["INVALID_ARGUMENT", "BAD_METADATA"]);
    });

    it("check their fields first", async () => {
      const ids = (...list: string[]) => ({ ids: list, ifConfigIndex: 0n });
      const answers = [
        await ports.admin.call(addMember, { name: "Q", ifConfigIndex: 0n }),
        await ports.admin.call(addMember, { name: "q", ifConfigIndex: -1n }),
        await ports.admin.call(promoteMembers, ids()),
        await ports.admin.call(removeMembers, ids("1", "1")),
        await ports.admin.call(removeMembers, ids("q-1")),
        await ports.admin.call(transferLeadership, { targetId: "0", ifTerm: 0n }),
        await ports.admin.call(transferLeadership, { targetId: "", ifTerm: -1n }),
      ];
      expect(answers.map(({ reason }) => reason)).deep.equal(Array(7).fill("BAD_FIELD"));
      expect(answers.map(fieldOf)).deep.equal(["name", "if_config_index", "ids", "ids", "ids", "target_id", "if_term"]);
      expect([replica.changes, replica.transfers, ports.member.cluster.barriers.length]).deep.equal([[], [], 0]);
    });

    it("are refused if the caller's right was revoked before the call", async () => {
      const caller = ports.owner;
      const { cluster } = ports.member;
      cluster.onBarrier = (done) => {
        cluster.changeOwner({ status: "disabled" });
        done(null);
      };
      for (const answer of [
        await caller.call(addMember, { name: "q-1", ifConfigIndex: 0n }),
        await caller.call(transferLeadership, { targetId: "1", ifTerm: 0n }),
      ]) {
        expect(verdict(answer)).deep.equal(["UNAUTHENTICATED", "TOKEN_REVOKED"]);
      }
      expect([replica.changes, replica.transfers]).deep.equal([[], []]);
    });

    it("are refused with the reason, in apply or by the leader, and name the members", async () => {
      const id = String(await learner(ports, "q-1"));
      await ports.admin.call(addMember, { name: "q-2", ifConfigIndex: 0n });
      const taken = await ports.admin.call(addMember, { name: "q-1", ifConfigIndex: 0n });
      expect(verdict(taken)).deep.equal(["ALREADY_EXISTS", "MEMBER_EXISTS"]);
      const moved = await ports.admin.call(removeMembers, { ids: [id], ifConfigIndex: 1n });
      expect(verdict(moved)).deep.equal(["FAILED_PRECONDITION", "CONFIG_CHANGED"]);
      expect(moved.details?.metadata.get("config_index")).equal(String(configIndex()));
      for (const method of [promoteMembers, removeMembers]) {
        const unknown = await ports.admin.call(method, { ids: [id, "999"], ifConfigIndex: 0n });
        expect(verdict(unknown)).deep.equal(["NOT_FOUND", "MEMBER_NOT_FOUND"]);
        expect(unknown.message).equal("no member has the id 999");
      }
      const last = await ports.admin.call(removeMembers, { ids: ["1"], ifConfigIndex: 0n });
      expect(verdict(last)).deep.equal(["FAILED_PRECONDITION", "LAST_VOTER"]);
      replica.onProposeMembership = (_entry, done) => {
        done(new CoordinationError("LEARNER_NOT_READY", "not ready"), null);
      };
      const notReady = await ports.admin.call(promoteMembers, { ids: [id], ifConfigIndex: 0n });
      expect(verdict(notReady)).deep.equal(["FAILED_PRECONDITION", "LEARNER_NOT_READY"]);
      expect(notReady.message).include(`q-1 (id ${id})`);
    });

    it("report an unknown outcome as unknown", async () => {
      replica.onProposeMembership = (_entry, done) => {
        done(new CoordinationError("LEADER_CHANGED", "another leads", { outcome: "unknown" }), null);
      };
      const answer = await ports.admin.call(addMember, { name: "q-1", ifConfigIndex: 0n });
      expect([...verdict(answer), answer.trailers.get("outcome")]).deep.equal([
        ...["UNAVAILABLE", "LEADER_CHANGED"],
        ["unknown"],
      ]);
    });

    it("transfer the leadership to a given member or to any, and return the new leader", async () => {
      const id = await learner(ports, "q-1");
      const certain = await ports.admin.call(transferLeadership, { targetId: String(id), ifTerm: 1n });
      expect(certain.response).deep.equal({ leaderId: String(id), term: 2n });
      replica.onTransfer = (_targetId, done) => done(null, { id: 1, term: 3 });
      const any = await ports.owner.call(transferLeadership, { targetId: "", ifTerm: 0n });
      expect(any.response).deep.equal({ leaderId: "1", term: 3n });
      expect(replica.transfers).deep.equal([
        { targetId: id, ifTerm: 1 },
        { targetId: 0, ifTerm: 0 },
      ]);
    });

    it("pass on why the leadership was not transferred", async () => {
      const refusals = [
        new CoordinationError("MEMBER_NOT_FOUND", "no member has the id 9"),
        new CoordinationError("LEARNER_NOT_READY", "member 9 has no vote"),
        new CoordinationError("NO_LEADER", "not in time", { outcome: "unknown" }),
      ];
      for (const refusal of refusals) {
        replica.onTransfer = (_targetId, done) => done(refusal, null);
        const answer = await ports.admin.call(transferLeadership, { targetId: "9", ifTerm: 0n });
        expect([...verdict(answer), answer.message, answer.trailers.get("outcome")[0]]).deep.equal([
          ...[refusal.code, refusal.reason, refusal.message, refusal.outcome],
        ]);
      }
    });
  });

  describe("Compact", () => {
    let ports: GrpcPorts;
    let replica: SingleReplica;

    beforeEach(async () => {
      ports = await GrpcPorts.founded();
      replica = ports.replica;
      for (let at = 0; at < 5; at++) {
        const operation = { kind: "create-namespace", namespace: `n${at}` } as const;
        const request = requestOf(at);
        replica.execute({ principal: { subject: ports.member.cluster.ownerId, apiKeyId: "" }, request, operation });
      }
    });

    afterEach(() => ports.close());

    it("drops history below a revision, on both ports and after a barrier, and returns where history begins", async () => {
      const { owner } = ports;
      const { barriers } = ports.member.cluster;
      barriers.length = 0;
      expect((await ports.admin.call(compact, { revision: 3n })).response).deep.equal({ compactRevision: 3n });
      expect((await owner.call(compact, { revision: 4n })).response).deep.equal({ compactRevision: 4n });
      expect(barriers).have.length(2);
      expect((await ports.admin.call(compact, { revision: 2n })).response).deep.equal({ compactRevision: 4n });
      expect((await ports.admin.call(compact, { revision: 999n })).response).deep.equal({ compactRevision: 6n });
      expect(readHistoryBounds(replica.state).compactRevision).equal(6);
    });

    it("answers a retry like the first attempt, and refuses its request id for another revision", async () => {
      const metadata = new Map([["request-id", "6c1c4b6e-9d0a-4d53-8a55-0f4d5f0b8d11"]]);
      const first = await ports.admin.call(compact, { revision: 2n }, { metadata });
      await ports.admin.call(compact, { revision: 4n });
      const again = await ports.admin.call(compact, { revision: 2n }, { metadata });
      expect(again.response).deep.equal(first.response);
      expect(again.headers.get("replayed")).deep.equal(["true"]);
      const other = await ports.admin.call(compact, { revision: 3n }, { metadata });
      expect(verdict(other)).deep.equal(["INVALID_ARGUMENT", "REQUEST_ID_REUSED"]);
    });

    it("refuses a bad revision, and a caller whose right was revoked before the call", async () => {
      for (const revision of [0n, -1n]) {
        const answer = await ports.admin.call(compact, { revision });
        expect([...verdict(answer), fieldOf(answer)]).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "revision"]);
      }
      const { owner } = ports;
      ports.member.cluster.changeApiKey({ revokedAtMs: 1 });
      expect(verdict(await owner.call(compact, { revision: 3n }))).deep.equal(["UNAUTHENTICATED", "TOKEN_REVOKED"]);
      expect(readHistoryBounds(replica.state).compactRevision).equal(0);
    });
  });
});

/** Adds a learner that a process has claimed, and returns its id. */
async function learner(ports: GrpcPorts, name: string): Promise<number> {
  const { response } = await ports.admin.call(addMember, { name, ifConfigIndex: 0n });
  ports.replica.lead({ kind: "claim-slot", name, incarnation: INCARNATION, address: ADDRESS });
  return Number(response?.member?.id);
}

function verdict({ code, reason }: Answer<unknown>): string[] {
  return [code, reason];
}

function fieldOf({ details }: Answer<unknown>): string | undefined {
  return details?.metadata.get("field");
}

function healthOf(slot: {
  readonly name: string;
  readonly voter: boolean;
  readonly lagMs: bigint;
  readonly contactAgeMs: bigint;
  readonly promotable: boolean;
}): unknown[] {
  return [slot.name, slot.voter, slot.lagMs, slot.contactAgeMs, slot.promotable];
}
