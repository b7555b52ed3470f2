import { expect } from "chai";
import { decodeLockResponse, encodeLockRequest, encodeUnlockRequest } from "./etcd-lock-messages.ts";

/** header { revision: 300 } */
const HEADER = "0a0318ac02";

describe("messages of etcd for locks", () => {
  it("are encoded as protocol buffers", () => {
    expect(encodeLockRequest("n", (1n << 63n) - 1n).toString("hex")).to.equal("0a016e" + "10ffffffffffffffff7f");
    expect(encodeUnlockRequest(Buffer.from("n/1")).toString("hex")).to.equal("0a036e2f31");
  });

  it("contain the key of the hold, and the revision", () => {
    const { key, revision } = decodeLockResponse(Buffer.from(`${HEADER}12036e2f31`, "hex"));
    expect([Buffer.from(key).toString(), revision]).to.deep.equal(["n/1", 300n]);
  });
});
