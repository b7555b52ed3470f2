import { expect } from "chai";
import { proposalOf } from "./proposal.ts";

describe("proposal", () => {
  it("stores no answer for what comes by HTTP, which has no request id to find it by", () => {
    const operation = { kind: "delete-log", logId: new Uint8Array(16) } as const;
    const proposal = proposalOf({ principal: { subject: "u", apiKeyId: "" }, request: null, operation });
    expect([proposal.stored, proposal.acquisition]).to.deep.equal([null, undefined]);
  });
});
