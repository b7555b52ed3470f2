import { crc32 } from "node:zlib";
import { expect } from "chai";
import { encodeForward, encodeMessage, FrameType } from "../../src/peers/index.ts";
import { EntryType, encodeEntry, NO_ENVELOPE, sealEntry } from "../../src/raft/index.ts";
import { DEFAULT_REPLICA_LIMITS } from "../../src/replica/index.ts";
import { LimitRules } from "./limit-rules.ts";

const RULE = "I15 everything stays within its limit";
const ROW = rowOf(1);

function rowOf(index: number): Uint8Array {
  const row = encodeEntry(EntryType.Command, NO_ENVELOPE, new Uint8Array(36));
  sealEntry(row, 1, index, crc32);
  return row;
}

const HEADER = {
  type: "append",
  from: 1,
  to: 2,
  term: 1,
  prevIndex: 0,
  prevTerm: 0,
  commit: 0,
  wantsReply: true,
} as const;

describe("the rules of limits", () => {
  const limits = { ...DEFAULT_REPLICA_LIMITS, proposalsPerTurn: 2, sliceEntries: 3, waitersMax: 3, queuedWaitsMax: 1 };
  const rules = new LimitRules({ ...limits, core: { ...limits.core, messageBytesMax: 2 * ROW.length } });

  function append(count: number): void {
    const rows = Array.from({ length: count }, (_, at) => rowOf(at + 1));
    rules.onFrameSent(1, 2, { type: FrameType.Append, body: encodeMessage({ ...HEADER, rows }) });
  }

  function forward(count: number): void {
    const attempts = Array.from({ length: count }, (_, at) => ({ seq: at + 1, kind: EntryType.Command, row: ROW }));
    rules.onFrameSent(1, 2, { type: FrameType.Forward, body: encodeForward({ term: 1, attempts }) });
  }

  it("hold for messages with entries", () => {
    append(2);
    expect(() => append(3)).to.throw(RULE);
  });

  it("let a single entry through whatever its size", () => {
    const tight = new LimitRules({ ...limits, core: { ...limits.core, messageBytesMax: 1 } });
    tight.onFrameSent(1, 2, { type: FrameType.Append, body: encodeMessage({ ...HEADER, rows: [ROW] }) });
  });

  it("hold for forwarded attempts", () => {
    forward(2);
    expect(() => forward(3)).to.throw(RULE);
  });

  it("hold for batches of the state, calls that wait and snapshots", () => {
    rules.onApplied(1, 3);
    expect(() => rules.onApplied(1, 4)).to.throw(RULE);
    rules.onWaiting(1, 6, 2);
    expect(() => rules.onWaiting(1, 7, 2)).to.throw(RULE);
    rules.onStreams(1, limits.snapshots.streamsMax);
    expect(() => rules.onStreams(1, limits.snapshots.streamsMax + 1)).to.throw(RULE);
  });
});
