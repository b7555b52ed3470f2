import { expect } from "chai";
import { type CountedRequest, exactlyOnceCheck } from "./exactly-once.ts";

function request(requestId: string, outcome: "not-executed" | "unknown", key = "k"): CountedRequest {
  return { requestId, key, outcome };
}

function acknowledged(requestId: string, revision: number, key = "k"): CountedRequest {
  return { requestId, key, outcome: "acknowledged", revision };
}

describe("counters under retries", () => {
  const requests = [
    acknowledged("a", 4),
    acknowledged("b", 9),
    acknowledged("b", 9),
    request("c", "unknown"),
    request("d", "not-executed"),
  ];
  const check = (version: number): readonly string[] => exactlyOnceCheck(requests, new Map([["k", version]]));

  it("count acknowledged requests once, and unknown ones at most once", () => {
    expect(check(2)).to.deep.equal([]);
    expect(check(3)).to.deep.equal([]);
  });

  it("do not lose acknowledged requests", () => {
    expect(check(1)).to.deep.equal(["k: the version, which counts the puts, is 1 instead of 2 to 3"]);
    expect(exactlyOnceCheck([acknowledged("a", 2)], new Map())).to.have.lengthOf(1);
  });

  it("count no request twice, and no refused request", () => {
    expect(check(4)).to.have.lengthOf(1);
    expect(exactlyOnceCheck([request("d", "not-executed")], new Map([["k", 1]]))).to.have.lengthOf(1);
  });

  it("count an unknown request that was acknowledged later once", () => {
    const retried = [request("a", "unknown"), acknowledged("a", 2)];
    expect(exactlyOnceCheck(retried, new Map([["k", 1]]))).to.deep.equal([]);
    expect(exactlyOnceCheck(retried, new Map([["k", 2]]))).to.have.lengthOf(1);
  });

  it("have one request at each revision, over all of them", () => {
    for (const other of ["k", "other"]) {
      const versions = new Map([["k", 1]]);
      versions.set(other, (versions.get(other) ?? 0) + 1);
      expect(exactlyOnceCheck([acknowledged("a", 4), acknowledged("b", 5, other)], versions)).to.deep.equal([]);
      expect(exactlyOnceCheck([acknowledged("a", 4), acknowledged("b", 4, other)], versions)).to.deep.equal([
        "revision 4 was returned to two requests, a and b",
      ]);
    }
  });

  it("are apart from each other", () => {
    const two = [acknowledged("a", 2, "x"), acknowledged("b", 3, "y")];
    expect(
      exactlyOnceCheck(
        two,
        new Map([
          ["x", 1],
          ["y", 1],
        ]),
      ),
    ).to.deep.equal([]);
    expect(
      exactlyOnceCheck(
        two,
        new Map([
          ["x", 2],
          ["y", 0],
        ]),
      ),
    ).to.have.lengthOf(2);
    expect(exactlyOnceCheck([], new Map([["z", 1]]))).to.have.lengthOf(1);
  });
});
