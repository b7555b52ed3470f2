import { expect } from "chai";
import { nearestName } from "./nearest-name.ts";

const KNOWN = ["ttlSeconds", "timeoutMs", "signal", "guard", "expectedModRevision", "waitMs"];

describe("nearestName", () => {
  it("finds the name behind a slip of the keyboard, another spelling, or its beginning", () => {
    for (const [written, meant] of [
      ["ttlSecond", "ttlSeconds"],
      ["ttlsecnods", "ttlSeconds"],
      ["ttl_seconds", "ttlSeconds"],
      ["TTLSeconds", "ttlSeconds"],
      ["ttl", "ttlSeconds"],
      ["timeout", "timeoutMs"],
      ["singal", "signal"],
      ["gard", "guard"],
      ["expected", "expectedModRevision"],
      ["waitS", "waitMs"],
    ] as const) {
      expect(nearestName(written, KNOWN), written).to.equal(meant);
    }
  });

  it("finds nothing for a name that is far from all of them", () => {
    for (const written of ["", "x", "tt", "prefix", "constructor", "__proto__", "requestIdentifier"]) {
      expect(nearestName(written, KNOWN), written).to.equal(undefined);
    }
    expect(nearestName("ttl", [])).to.equal(undefined);
  });
});
