import { expect } from "chai";
import fc from "fast-check";
import { MemoryStateStore } from "../../../test/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import { encodeProgress, type Progress, readProgress } from "./progress.ts";
import { PROGRESS_ROW } from "./rows.ts";

const count = fc.maxSafeNat();
const progress: fc.Arbitrary<Progress> = fc.record({
  appliedIndex: count,
  appliedTerm: count,
  tickMs: count,
  wallMs: count,
  revision: count,
  digest: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  dataBytes: count,
  expiringKeys: count,
  storedAnswers: count,
  lockTimers: count,
  logs: count,
  eventBytes: count,
  logTimers: count,
  logErasures: count,
  totals: fc.record({
    keys: count,
    lockHolds: count,
    lockWaits: count,
    memoryRegions: count,
    memoryBytes: count,
    sessions: fc.oneof(fc.constant(0), count),
  }),
});
const SMALL: Progress = {
  appliedIndex: 1,
  appliedTerm: 2,
  tickMs: 3,
  wallMs: 4,
  revision: 5,
  digest: 0xdead_beef,
  dataBytes: 6,
  expiringKeys: 7,
  storedAnswers: 8,
  lockTimers: 9,
  logs: 10,
  eventBytes: 11,
  logTimers: 12,
  logErasures: 13,
  totals: { keys: 14, lockHolds: 15, lockWaits: 16, memoryRegions: 17, memoryBytes: 18, sessions: 0 },
};

function storeWith(value: Uint8Array): MemoryStateStore {
  const store = new MemoryStateStore();
  store.write([{ key: PROGRESS_ROW, value }]);
  return store;
}

describe("progress", () => {
  it("comes back as written", () => {
    fc.assert(
      fc.property(progress, (written) => {
        expect(readProgress(storeWith(encodeProgress(written)))).to.deep.equal(written);
      }),
    );
  });

  it("has these bytes", () => {
    const numbers = [1, 2, 3, 4, 5].map((value) => `000000000000000${value}`).join("");
    const counts = Array.from({ length: 13 }, (_, at) => (at + 6).toString(16).padStart(16, "0")).join("");
    expect(encodeProgress(SMALL).toHex()).to.equal(`01${numbers}deadbeef${counts}`);
  });

  it("is zero before the first entry", () => {
    const { totals, ...none } = readProgress(new MemoryStateStore());
    expect([...Object.values(none), ...Object.values(totals)].every((value) => value === 0)).to.equal(true);
  });

  it("is refused after every truncation, with a byte more, and in an unknown format", () => {
    const row = encodeProgress(SMALL);
    for (let length = 0; length < row.length; length++) {
      expect(() => readProgress(storeWith(row.subarray(0, length)))).to.throw(InvariantViolation);
    }
    expect(() => readProgress(storeWith(Uint8Array.of(...row, 0)))).to.throw(InvariantViolation);
    expect(() => readProgress(storeWith(Uint8Array.of(3, ...row.subarray(1))))).to.throw(InvariantViolation, "format");
  });
});
