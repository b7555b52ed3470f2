import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import {
  type FieldsOf,
  type GrpcCaller,
  GrpcPorts,
  SingleMember,
  temporaryDirectory,
  verdict,
} from "../../../test/harness/index.ts";
import { MemberBackups } from "../../archive/index.ts";
import { systemClock, systemScheduler } from "../../replica/index.ts";
import { MemberInspection } from "./member-inspection.ts";

const { getBackupStatus, listBackups } = serviceDefinitions.ClusterAdminService;
const OTHER_CLUSTER = "3f0c8a52-6d1e-4b9a-8f27-5c94e1b7d036";

describe("ClusterAdminService, what is known of backups", () => {
  let ports: GrpcPorts;
  let directory: string;

  beforeEach(async () => {
    ports = await GrpcPorts.founded();
    directory = temporaryDirectory();
  });

  afterEach(() => ports.close());

  const status = (fields: FieldsOf<typeof getBackupStatus> = {}, caller = ports.owner) =>
    caller.ask(getBackupStatus, fields);
  const list = (clusterId: string, caller: GrpcCaller) => caller.ask(listBackups, { clusterId });

  /** Adds a member, which no process has claimed, and returns its id. */
  function addMember(name: string): number {
    const outcome = ports.replica.change({
      subject: ports.member.cluster.ownerId,
      request: null,
      expectIndex: 0,
      operation: { kind: "add-slot", name },
    });
    return outcome !== undefined && "memberId" in outcome.answer ? outcome.answer.memberId : 0;
  }

  /** Backups in a directory that exists, of a member that serves nothing. */
  function backupsIn(store: string): MemberBackups {
    mkdirSync(store);
    const { name, clusterName, clusterId, memberId, version } = ports.member;
    const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
    return new MemberBackups({
      host: { name, clusterName, clusterId, memberId, version, replica: null },
      configuration: {
        location: { kind: "directory", directory: store },
        keyFile: null,
        archives: false,
        intervalMs: 60_000,
        retention: null,
      },
      clock: systemClock,
      scheduler: systemScheduler,
      log: silent,
    });
  }

  it("asks another member about its backups, and reports one that does not answer", async () => {
    const [second, third] = [addMember("member-1"), addMember("member-2")];
    const store = join(directory, "store");
    const backups = backupsIn(store);
    try {
      const inspection = new MemberInspection(new SingleMember("09".repeat(16)), { samplesOf: () => [] });
      const asked = (question: Uint8Array) => inspection.answer(question);
      ports.replica.otherMembers.set(second, asked);
      const early = verdict(await status({ memberId: String(second) }));
      expect(early, "before it has its backups").deep.equal(["UNAVAILABLE", "MEMBER_UNREACHABLE"]);
      inspection.addBackups(backups);
      const { response } = await status({ memberId: String(second) });
      expect(response).include({ store, encrypted: false, run: undefined, archive: undefined, verifiedMs: 0n });
      const own = await status({ memberId: String(ports.member.memberId) });
      expect(own.response?.store, "this member has none").equal("");
      const away = verdict(await status({ memberId: String(third) }));
      expect(away).deep.equal(["UNAVAILABLE", "MEMBER_UNREACHABLE"]);
    } finally {
      await backups.stop();
    }
  });

  it("shows other clusters on the admin port only, and refuses fields by name", async () => {
    const bad = (field: string) => ["INVALID_ARGUMENT", "BAD_FIELD", field];
    const noStore = ["FAILED_PRECONDITION", "NO_BACKUP_STORE"];
    expect(verdict(await list(OTHER_CLUSTER, ports.owner))).deep.equal(bad("cluster_id"));
    expect(verdict(await list(ports.member.clusterId, ports.owner)), "the own cluster").deep.equal(noStore);
    expect(verdict(await list(OTHER_CLUSTER, ports.admin)), "on the admin port").deep.equal(noStore);
    for (const caller of [ports.owner, ports.admin]) {
      expect(verdict(await list("x", caller))).deep.equal(bad("cluster_id"));
      expect(verdict(await status({ memberId: "x" }, caller))).deep.equal(bad("member_id"));
      expect(verdict(await status({ memberId: "77" }, caller))).deep.equal(["NOT_FOUND", "MEMBER_NOT_FOUND"]);
    }
  });

  it("needs an administrator of all namespaces", async () => {
    const member = ports.caller(await ports.token({ role: "member" }));
    const elsewhere = ports.caller(await ports.token({ namespaces: ["default"] }));
    for (const call of [
      (caller: GrpcCaller) => status({ memberId: "x" }, caller),
      (caller: GrpcCaller) => list("x", caller),
    ]) {
      expect(verdict(await call(member))).deep.equal(["PERMISSION_DENIED", "ACCESS_DENIED"]);
      expect(verdict(await call(elsewhere))).deep.equal(["PERMISSION_DENIED", "NAMESPACE_DENIED"]);
    }
  });
});
