import { crc32 } from "node:zlib";
import { expect } from "chai";
import { EntryType, encodeEntry, NO_ENVELOPE, type ProposalOrigin, sealEntry } from "../../src/raft/index.ts";
import { CanonicalLog } from "./canonical-log.ts";

function rowOf(index: number, term: number, payload = 0, origin: ProposalOrigin | null = null): Uint8Array {
  const envelope = origin === null ? NO_ENVELOPE : { ...NO_ENVELOPE, origin };
  const row = encodeEntry(EntryType.Command, envelope, Uint8Array.of(payload));
  sealEntry(row, term, index, crc32);
  return row;
}

describe("the canonical log", () => {
  let log: CanonicalLog;

  beforeEach(() => {
    log = new CanonicalLog(() => 0);
    log.wrote(1, [rowOf(1, 1), rowOf(2, 1)], 0);
    log.committed(1, 1, rowOf(1, 1));
    log.committed(1, 2, rowOf(2, 1));
  });

  it("takes the same entries from all members", () => {
    log.wrote(2, [rowOf(1, 1), rowOf(2, 1)], 0);
    log.committed(2, 2, rowOf(2, 1));
    log.applied(1, 2, 7);
    log.applied(2, 2, 7);
    log.snapshot(1, 2, 9);
    log.snapshot(2, 2, 9);
    expect(log.last).to.equal(2);
  });

  it("refuses other bytes at the same index and term, and another prefix", () => {
    expect(() => log.wrote(2, [rowOf(2, 1, 5)], 1)).to.throw("I4 equal index and term mean equal bytes");
    expect(() => log.wrote(2, [rowOf(2, 1)], 0)).to.throw("I4 equal index and term mean equal prefixes");
  });

  it("refuses a change of committed entries, and a gap", () => {
    expect(() => log.committed(2, 2, rowOf(2, 2))).to.throw("I6 the committed log never changes");
    expect(() => log.committed(2, 4, rowOf(4, 2))).to.throw("I6 the committed log has no gaps");
  });

  it("refuses an attempt that is in the log twice", () => {
    const origin = { memberId: 1, boot: 2, seq: 3 };
    log.committed(1, 3, rowOf(3, 1, 0, origin));
    expect(() => log.committed(1, 4, rowOf(4, 1, 0, origin))).to.throw("I14 no attempt is in the log twice");
  });

  it("refuses a tick that is ahead of the time", () => {
    let nowMs = 1_000;
    const timed = new CanonicalLog(() => nowMs);
    const take = (index: number, tickMs: number): void => {
      const row = encodeEntry(EntryType.Command, { ...NO_ENVELOPE, tickMs }, new Uint8Array(0));
      sealEntry(row, 1, index, crc32);
      timed.wrote(1, [row], 1);
      timed.committed(1, index, row);
    };
    take(1, 1_040);
    nowMs = 2_000;
    take(2, 1_500);
    timed.checkTicks(0.05);
    take(3, 2_200);
    expect(() => timed.checkTicks(0.05)).to.throw("I23 ticks are not ahead of time");
  });

  it("refuses another state at the same index", () => {
    log.applied(1, 2, 7);
    expect(() => log.applied(2, 2, 8)).to.throw("I9 equal applied indexes mean equal states");
    log.snapshot(1, 2, 9);
    expect(() => log.snapshot(2, 2, 8)).to.throw("I20 a snapshot is the state at its index");
  });
});
