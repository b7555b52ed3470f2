import { writeFileSync } from "node:fs";
import {
  GetBackupStatusRequest,
  GetKeyRequest,
  GetStatusRequest,
  ListBackupsRequest,
  StartBackupRequest,
  serviceDefinitions,
} from "@quoin/proto";
import { expect } from "chai";
import { GrpcPorts } from "../../../test/harness/index.ts";

const service = serviceDefinitions.ClusterAdminService;
const STATUS = GetStatusRequest.create();

describe("admin server", () => {
  let ports: GrpcPorts;

  beforeEach(async () => {
    ports = await GrpcPorts.open();
  });

  afterEach(() => ports.close());

  it("serves callers with an admin token, and no others", async () => {
    expect((await ports.admin.call(service.getStatus, STATUS)).code).equal("OK");
    for (const authorization of [null, "Bearer x", "Basic x", "Bearer admin-token-of-the-spec x"]) {
      const answer = await ports.admin.call(service.getStatus, STATUS, {
        metadata: new Map([["authorization", authorization]]),
      });
      expect([answer.code, answer.reason]).deep.equal(["UNAUTHENTICATED", "TOKEN_INVALID"]);
    }
    writeFileSync(ports.adminTokenFile, "another-token\n");
    expect((await ports.admin.call(service.getStatus, STATUS)).code).equal("UNAUTHENTICATED");
  });

  it("requires the api-version; the request-id may be absent, but not malformed", async () => {
    const call = (name: string, value: string | null) =>
      ports.admin.call(service.getStatus, STATUS, { metadata: new Map([[name, value]]) });
    expect((await call("request-id", null)).code).equal("OK");
    expect((await call("request-id", "x")).reason).equal("BAD_METADATA");
    expect((await call("api-version", null)).reason).equal("BAD_METADATA");
  });

  it("serves only ClusterAdminService", async () => {
    const request = GetKeyRequest.fromPartial({ namespace: "default", key: "k" });
    const answer = await ports.admin.call(serviceDefinitions.KeyValueService.getKey, request);
    expect([answer.code, answer.reason]).deep.equal(["UNIMPLEMENTED", ""]);
  });

  it("reports what is missing for a backup: a store, or data that is served", async () => {
    const noStore = ["FAILED_PRECONDITION", "NO_BACKUP_STORE"];
    const started = await ports.admin.call(service.startBackup, StartBackupRequest.create());
    expect([started.code, started.reason]).deep.equal(noStore);
    const listed = await ports.admin.call(service.listBackups, ListBackupsRequest.create());
    expect([listed.code, listed.reason]).deep.equal(noStore);
    const status = await ports.admin.call(service.getBackupStatus, GetBackupStatusRequest.create());
    expect([status.code, status.response?.store]).deep.equal(["OK", ""]);
  });
});
