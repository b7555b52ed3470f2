import { GetKeyRequest, PutKeyRequest, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { GrpcPorts } from "../../../test/harness/index.ts";
import { foundingSecrets } from "../../../test/index.ts";

const kv = serviceDefinitions.KeyValueService;
describe("smoke", () => {
  it("puts", async () => {
    const secrets = await foundingSecrets();
    const ports = await GrpcPorts.founded(secrets);
    try {
      const caller = ports.caller(await ports.token(secrets));
      console.log(
        await caller.call(
          kv.putKey,
          PutKeyRequest.fromPartial({ namespace: "default", key: "a", value: Buffer.from("x") }),
        ),
      );
      console.log(await caller.call(kv.getKey, GetKeyRequest.fromPartial({ namespace: "default", key: "a" })));
      console.log(await caller.call(kv.getKey, GetKeyRequest.fromPartial({ namespace: "default", key: "b" })));
    } finally {
      await ports.close();
    }
    expect(1).equal(1);
  });
});
