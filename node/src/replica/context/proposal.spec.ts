import { expect } from "chai";
import { AppliedLock, MemoryStateStore, OWNER, releaseLock, requestOf } from "../../../test/index.ts";
import { proposalOf } from "./proposal.ts";

describe("proposal", () => {
  it("stores no answer for what comes by HTTP, which has no request id to find it by", () => {
    const operation = { kind: "delete-log", logId: new Uint8Array(16) } as const;
    const proposal = proposalOf({ principal: OWNER, request: null, operation }, new MemoryStateStore());
    expect([proposal.stored, proposal.acquisition]).to.deep.equal([null, undefined]);
  });

  it("counts the work of rows that the bytes of a command do not show", () => {
    const locks = new AppliedLock({ rw: true });
    const work = () => {
      const asked = { principal: OWNER, request: requestOf(7), operation: releaseLock({ rw: true }) };
      return proposalOf(asked, locks.log.store).work;
    };
    const before = work();
    for (let at = 0; at < 20; at++) {
      locks.ask({ mode: "read" });
    }
    expect(before).to.be.greaterThan(2_000);
    expect(work() - before).to.equal(20 * 256);
  });
});
