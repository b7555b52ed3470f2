import { expect } from "chai";
import { History } from "./history.ts";

describe("the record of a history", () => {
  let nowMs = 0;
  const clock = (): number => {
    nowMs++;
    return nowMs;
  };

  beforeEach(() => {
    nowMs = 0;
  });

  it("has each operation with its client, its times and its outcome, in the order of the starts", () => {
    const history = new History(clock);
    const first = history.begin("a", { kind: "put", key: "k", value: "v" });
    const second = history.begin("b", { kind: "get", key: "k" });
    second.end({ kind: "ok", answer: { kind: "absent" } });
    first.end({ kind: "not-executed" });
    expect(history.operations).to.deep.equal([
      {
        id: 0,
        client: "a",
        operation: { kind: "put", key: "k", value: "v" },
        startMs: 1,
        endMs: 4,
        outcome: { kind: "not-executed" },
      },
      {
        id: 1,
        client: "b",
        operation: { kind: "get", key: "k" },
        startMs: 2,
        endMs: 3,
        outcome: { kind: "ok", answer: { kind: "absent" } },
      },
    ]);
  });

  it("lets unknown and open operations take effect at any later time", () => {
    const history = new History(clock);
    history.begin("a", { kind: "delete", key: "k" }).end({ kind: "unknown" });
    history.begin("a", { kind: "delete", key: "k" });
    for (const { endMs, outcome } of history.operations) {
      expect([endMs, outcome.kind]).to.deep.equal([Number.POSITIVE_INFINITY, "unknown"]);
    }
  });

  it("ends an operation once", () => {
    const open = new History(clock).begin("a", { kind: "get", key: "k" });
    open.end({ kind: "unknown" });
    expect(() => open.end({ kind: "unknown" })).to.throw("has ended before");
  });
});
