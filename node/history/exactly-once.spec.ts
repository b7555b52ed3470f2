import { expect } from "chai";
import { type CountedRequest, exactlyOnceCheck } from "./exactly-once.ts";

function request(requestId: string, outcome: CountedRequest["outcome"], key = "k"): CountedRequest {
  return { requestId, key, outcome };
}

describe("counters under retries", () => {
  const requests = [
    request("a", "acknowledged"),
    request("b", "acknowledged"),
    request("b", "acknowledged"),
    request("c", "unknown"),
    request("d", "not-executed"),
  ];
  const check = (version: number): readonly string[] => exactlyOnceCheck(requests, new Map([["k", version]]));

  it("count what was acknowledged once, and what is unknown once or not at all", () => {
    expect(check(2)).to.deep.equal([]);
    expect(check(3)).to.deep.equal([]);
  });

  it("do not lose what was acknowledged", () => {
    expect(check(1)).to.deep.equal(["k: the version, which counts the puts, is 1 instead of 2 to 3"]);
    expect(exactlyOnceCheck([request("a", "acknowledged")], new Map())).to.have.lengthOf(1);
  });

  it("do not count a request twice, nor one that was refused", () => {
    expect(check(4)).to.have.lengthOf(1);
    expect(exactlyOnceCheck([request("d", "not-executed")], new Map([["k", 1]]))).to.have.lengthOf(1);
  });

  it("do not count an unknown request that was acknowledged later as another one", () => {
    const retried = [request("a", "unknown"), request("a", "acknowledged")];
    expect(exactlyOnceCheck(retried, new Map([["k", 1]]))).to.deep.equal([]);
    expect(exactlyOnceCheck(retried, new Map([["k", 2]]))).to.have.lengthOf(1);
  });

  it("are apart from each other", () => {
    const two = [request("a", "acknowledged", "x"), request("b", "acknowledged", "y")];
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
