import { TransactRequest } from "@quoin/proto";
import { expect } from "chai";
import { transactField } from "./transaction-fields.ts";

const LOG_ID = "123e4567-e89b-42d3-a456-426614174000";

describe("the fields of a transaction", () => {
  function keyOf(payloads: readonly string[], idempotencyKey: string): unknown {
    const append = { logId: LOG_ID, payloads: payloads.map((text) => Buffer.from(text)), idempotencyKey };
    const { success } = transactField(TransactRequest.fromPartial({ namespace: "n", success: [{ append }] }));
    return (success[0] as { readonly idempotencyKey?: unknown }).idempotencyKey;
  }

  it("take an event without a key, but not several", () => {
    expect([keyOf(["a"], ""), keyOf(["a"], "k"), keyOf(["a", "b"], "k")]).to.deep.equal([null, "k", "k"]);
    expect(() => keyOf(["a", "b"], "")).to.throw("success[0].append.idempotency_key must have 1 byte or more");
  });
});
