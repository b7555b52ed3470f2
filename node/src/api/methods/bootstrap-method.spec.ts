import { randomUUID } from "node:crypto";
import { type BootstrapRequest, GetKeyRequest, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { GrpcPorts, verdict } from "../../../test/harness/index.ts";
import { generateApiKey } from "../../access/index.ts";

const { bootstrap } = serviceDefinitions.ClusterAdminService;

describe("Bootstrap", () => {
  let ports: GrpcPorts;
  let request: BootstrapRequest;

  beforeEach(async () => {
    ports = await GrpcPorts.open();
    request = {
      clusterId: randomUUID(),
      incarnation: ports.member.incarnation,
      owner: { email: "owner@example.com", password: "correct horse", apiKey: generateApiKey() },
    };
  });

  afterEach(() => ports.close());

  it("founds a cluster whose owner can get a token and use the namespace default, and can be repeated", async () => {
    expect((await ports.admin.call(bootstrap, request)).response).deep.equal({ memberId: "1" });
    expect((await ports.admin.call(bootstrap, request)).response).deep.equal({ memberId: "1" });
    const issued = await ports.member.access().exchangeApiKey(request.owner?.apiKey ?? "", null, 0);
    const owner = ports.caller(issued?.accessToken ?? "");
    const get = GetKeyRequest.fromPartial({ namespace: "default", key: "k" });
    const answer = await owner.call(serviceDefinitions.KeyValueService.getKey, get);
    expect(verdict(answer)).deep.equal(["NOT_FOUND", "KEY_NOT_FOUND"]);
    const { response } = await owner.call(serviceDefinitions.ClusterService.getCluster, {});
    expect(response?.clusterId).equal(request.clusterId);
    expect(response?.members[0]?.grpcEndpoint).equal("127.0.0.1:7400");
  });

  it("is refused for another cluster once there is one", async () => {
    await ports.admin.call(bootstrap, request);
    const answer = await ports.admin.call(bootstrap, { ...request, clusterId: randomUUID() });
    expect(verdict(answer)).deep.equal(["FAILED_PRECONDITION", "NOT_EMPTY"]);
  });

  it("checks its fields, and its errors contain no secret", async () => {
    const owner = request.owner as NonNullable<typeof request.owner>;
    const cases: readonly (readonly [Partial<BootstrapRequest>, string])[] = [
      [{ incarnation: "" }, "incarnation"],
      [{ incarnation: "0".repeat(31) }, "incarnation"],
      [{ clusterId: "cluster" }, "cluster_id"],
      [{ owner: undefined }, "owner"],
      [{ owner: { ...owner, email: "nobody" } }, "owner.email"],
      [{ owner: { ...owner, password: "2 short" } }, "owner.password"],
      [{ owner: { ...owner, apiKey: "qk_secret" } }, "owner.api_key"],
    ];
    for (const [fields, field] of cases) {
      const answer = await ports.admin.call(bootstrap, { ...request, ...fields });
      expect(verdict(answer)).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", field]);
      expect(answer.message).not.to.include("2 short").and.not.to.include("qk_secret");
    }
    expect(ports.member.state).equal("EMPTY");
  });

  it("is not served on the public port for any caller", async () => {
    const answer = await ports.caller("x").call(bootstrap, request);
    expect([answer.code, answer.reason]).deep.equal(["UNIMPLEMENTED", "NOT_SERVED"]);
    expect(answer.message).to.include("admin port");
  });
});
