import type { Owner } from "@quoin/proto";
import { serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { GrpcPorts } from "../../../test/harness/index.ts";
import { generateApiKey } from "../../access/index.ts";

const { resetOwner } = serviceDefinitions.ClusterAdminService;
const REQUEST_ID = "6c1c4b6e-9d0a-4d53-8a55-0f4d5f0b8d11";

describe("ResetOwner", () => {
  let ports: GrpcPorts;
  let owner: Owner;

  beforeEach(async () => {
    ports = await GrpcPorts.founded();
    owner = { email: "back@example.com", password: "correct horse", apiKey: generateApiKey() };
  });

  afterEach(() => ports.close());

  it("makes an owner who can get a token and use the namespace default, after a barrier, and logs it for audits", async () => {
    const { response } = await ports.admin.call(resetOwner, { owner });
    expect(response).include({ created: true });
    expect(ports.member.cluster.barriers).not.deep.equal([]);
    const issued = await ports.member.access().exchangeApiKey(owner.apiKey, null, 0);
    const caller = ports.caller(issued?.accessToken ?? "");
    expect((await caller.call(serviceDefinitions.ClusterAdminService.listMembers, {})).code).equal("OK");
    expect(ports.audited).have.length(1);
    expect(ports.audited[0]).include({ audit: "reset-owner", userId: response?.userId, created: true });
    expect(JSON.stringify(ports.audited)).not.contain(owner.password).and.not.contain(owner.apiKey);
  });

  it("can be repeated, by its content or by its request id", async () => {
    const options = { metadata: new Map([["request-id", REQUEST_ID]]) };
    const first = await ports.admin.call(resetOwner, { owner }, options);
    const again = await ports.admin.call(resetOwner, { owner }, options);
    expect(again.response).deep.equal(first.response);
    for (const change of [{ password: "another horse" }, { email: "other@example.com" }, { apiKey: "" }]) {
      const { reason } = await ports.admin.call(resetOwner, { owner: { ...owner, ...change } }, options);
      expect(reason, Object.keys(change)[0]).equal("REQUEST_ID_REUSED");
    }
    const third = await ports.admin.call(resetOwner, { owner: { ...owner, apiKey: "" } });
    expect(third.response).deep.equal({ userId: first.response?.userId, created: false });
    expect(await ports.member.access().exchangeApiKey(owner.apiKey, null, 0), "the API key stays").not.equal(null);
  });

  it("is not served on the public port, not even for an owner", async () => {
    const answer = await ports.owner.call(resetOwner, { owner });
    expect([answer.code, answer.reason]).deep.equal(["UNIMPLEMENTED", "NOT_SERVED"]);
  });

  it("checks its fields, and its errors contain no secret", async () => {
    const cases: readonly (readonly [Owner | undefined, string])[] = [
      [undefined, "owner"],
      [{ ...owner, email: "nobody" }, "owner.email"],
      [{ ...owner, password: "2 short" }, "owner.password"],
      [{ ...owner, apiKey: "qk_secret" }, "owner.api_key"],
    ];
    for (const [asked, field] of cases) {
      const answer = await ports.admin.call(resetOwner, { owner: asked });
      expect([answer.code, answer.reason, answer.details?.metadata.get("field")]).deep.equal([
        "INVALID_ARGUMENT",
        "BAD_FIELD",
        field,
      ]);
      expect(answer.message).not.contain("2 short").and.not.contain("qk_secret");
    }
  });
});
