import { GetStatusRequest, ListMembersRequest, MemberRole, MemberState, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { GrpcPorts } from "../../../test/harness/index.ts";
import { type FoundingSecrets, foundingSecrets } from "../../../test/index.ts";
import { CoordinationError } from "../../state/index.ts";

const { getStatus, listMembers } = serviceDefinitions.ClusterAdminService;
const STATUS = GetStatusRequest.create();
const MEMBERS = ListMembersRequest.create();

describe("ClusterAdminService", () => {
  let secrets: FoundingSecrets;

  before(async () => {
    secrets = await foundingSecrets();
  });

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
        ...{ id: "", name: "member-0", state: MemberState.EMPTY, role: MemberRole.MEMBER_ROLE_UNSPECIFIED },
        ...{ clusterId: "", incarnation: "07".repeat(16), leaderId: "", term: 0n, stateHash: "", alarms: [] },
      });
    });

    it("answers GetStatus in every state", async () => {
      for (const state of ["EMPTY", "RUNNING", "MEMBER_DAMAGED", "MEMBER_REFUSED"] as const) {
        ports.member.state = state;
        expect((await ports.admin.call(getStatus, STATUS)).response?.status?.state).equal(MemberState[state]);
      }
    });

    it("has no membership to list", async () => {
      const answer = await ports.admin.call(listMembers, MEMBERS);
      expect([answer.code, answer.reason]).deep.equal(["UNAVAILABLE", "NO_LEADER"]);
    });
  });

  describe("of a running member", () => {
    let ports: GrpcPorts;

    beforeEach(async () => {
      ports = await GrpcPorts.founded(secrets);
    });

    afterEach(() => ports.close());

    it("answers GetStatus without a barrier, with the membership that is applied", async () => {
      const { cluster } = ports.member;
      cluster.onBarrier = (done) => done(new CoordinationError("NO_LEADER", "no leader"));
      const owner = ports.caller(await ownerToken());
      for (const caller of [ports.admin, owner]) {
        const { response } = await caller.call(getStatus, STATUS);
        const { stateHash, ...status } = response?.status ?? { stateHash: "" };
        expect(stateHash).match(/^[0-9a-f]{8}$/);
        expect(status).deep.equal({
          ...{ id: "1", name: "member-0", state: MemberState.RUNNING, stateForMs: 2_000n, role: MemberRole.LEADER },
          ...{
            term: 1n,
            leaderId: "1",
            commitIndex: 1n,
            appliedIndex: 1n,
            firstIndex: 1n,
            lastIndex: 1n,
            revision: 1n,
          },
          ...{ dbSizeBytes: 4_000n, diskFreeBytes: 5_000n, version: "0.0.0-spec", downgradeFloor: "0.1.0" },
          ...{ uptimeMs: 3_000n, incarnation: "07".repeat(16), clusterId: secrets.founding.clusterId, alarms: [] },
          ...{ stateHashIndex: 1n, certificateSerial: "", trustedCas: [], settingsRevision: 0n },
        });
        expect(response?.known?.members.map(({ id }) => id)).deep.equal(["1"]);
      }
    });

    it("lists the members after a read barrier", async () => {
      const { cluster } = ports.member;
      for (const caller of [ports.admin, ports.caller(await ownerToken())]) {
        cluster.barriers.length = 0;
        const { response } = await caller.call(listMembers, MEMBERS);
        expect(cluster.barriers).have.length(1);
        expect(response).deep.equal({
          ...{ clusterId: secrets.founding.clusterId, term: 1n, configIndex: 1n, commitIndex: 1n, changing: false },
          leaderId: "1",
          members: [
            {
              ...{ id: "1", name: "member-0", peerEndpoint: "127.0.0.1:7402", grpcEndpoint: "127.0.0.1:7400" },
              ...{ httpEndpoint: "127.0.0.1:7401", voter: true, incarnation: "07".repeat(16) },
              ...{ lagMs: 0n, contactAgeMs: 0n, promotable: false },
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
        const caller = ports.caller(await ports.token(secrets, { role, namespaces }));
        for (const answer of [await caller.call(getStatus, STATUS), await caller.call(listMembers, MEMBERS)]) {
          expect([answer.code, answer.reason]).deep.equal(["PERMISSION_DENIED", reason]);
        }
      }
      const admin = ports.caller(await ports.token(secrets, { role: "admin", namespaces: ["*"] }));
      expect((await admin.call(getStatus, STATUS)).code).equal("OK");
    });

    /** While barriers fail, no token can be issued: this lets them pass for as long as it takes. */
    async function ownerToken(): Promise<string> {
      const { cluster } = ports.member;
      const { onBarrier } = cluster;
      cluster.onBarrier = (done) => done(null);
      const token = await ports.token(secrets);
      cluster.onBarrier = onBarrier;
      return token;
    }
  });
});
