import { expect } from "chai";
import type { RecordedOperation } from "../history/index.ts";
import { judge } from "./judgement.ts";

function get(id: number, key: string, value: string, modRevision: number, revision: number): RecordedOperation {
  const answer = { kind: "found", value, createRevision: 1, modRevision, version: modRevision, revision } as const;
  const times = { startMs: 10 * id, endMs: 10 * id + 5 };
  return { id, client: "c", operation: { kind: "get", key }, ...times, outcome: { kind: "ok", answer } };
}

function put(id: number, key: string, value: string, revision: number): RecordedOperation {
  const answer = { kind: "put", created: revision === 1, revision } as const;
  const times = { startMs: 10 * id, endMs: 10 * id + 5 };
  return { id, client: "c", operation: { kind: "put", key, value }, ...times, outcome: { kind: "ok", answer } };
}

describe("the judgement of a nemesis run", () => {
  it("finds nothing in a correct history", () => {
    expect(judge([put(0, "k", "a", 1), put(1, "k", "b", 2), get(2, "k", "b", 2, 2)])).to.deep.equal([]);
  });

  it("finds an old value by both oracles", () => {
    const wrong = judge([put(0, "k", "a", 1), put(1, "k", "b", 2), get(2, "k", "a", 1, 1)]);
    expect(wrong).to.have.lengthOf(2);
    expect(wrong.join("\n")).to.contain("revisions never go backwards").and.to.contain("no order of the operations");
  });
});
