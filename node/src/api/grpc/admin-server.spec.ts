import { writeFileSync } from "node:fs";
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { GetKeyRequest, GetStatusRequest, serviceDefinitions } from "@quoin/proto";
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

  it("serves whoever shows an admin token, and nobody else", async () => {
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

  it("wants the api-version; the request-id may be absent, but not be malformed", async () => {
    const call = (name: string, value: string | null) =>
      ports.admin.call(service.getStatus, STATUS, { metadata: new Map([[name, value]]) });
    expect((await call("request-id", null)).code).equal("OK");
    expect((await call("request-id", "x")).reason).equal("BAD_METADATA");
    expect((await call("api-version", null)).reason).equal("BAD_METADATA");
  });

  it("serves nothing but ClusterAdminService", async () => {
    const request = GetKeyRequest.fromPartial({ namespace: "default", key: "k" });
    const answer = await ports.admin.call(serviceDefinitions.KeyValueService.getKey, request);
    expect([answer.code, answer.reason]).deep.equal(["UNIMPLEMENTED", ""]);
  });

  it("names what it does not serve: Snapshot, which would answer with a stream", async () => {
    const client = new Client(`127.0.0.1:${ports.adminPort}`, credentials.createInsecure());
    const { path, requestSerialize, responseDeserialize } = service.snapshot;
    const error = await new Promise<ServiceError>((resolve) => {
      client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, {}).on("error", resolve).resume();
    });
    client.close();
    expect(error.details).equal("Snapshot is not served by this version");
    expect(error.metadata.get("error-reason")).deep.equal(["NOT_SERVED"]);
  });
});
