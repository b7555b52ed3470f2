import { crc32 } from "node:zlib";
import { expect } from "chai";
import { EntryType, encodeEntry, NO_PROPOSAL_ORIGIN, sealEntry } from "../raft/index.ts";
import type { Progress } from "../state/index.ts";
import { DEFAULT_ARCHIVE_LIMITS } from "./archive-limits.ts";
import { SegmentDraft, segmentEntries } from "./segment-draft.ts";

const ORIGIN = {
  id: "1".repeat(32),
  clusterId: "018a0000-0000-8000-8001-000000000009",
  clusterName: "quoin",
  quoinVersion: "0.1.0",
  clusterVersion: 1,
  previousId: "0".repeat(32),
  previousHash: new Uint8Array(32),
};
const { segmentBytes: SEGMENT_BYTES } = DEFAULT_ARCHIVE_LIMITS;
const LAST = { revision: 3, wallMs: 30 };

function entry(index: number, bytes = 10): Uint8Array {
  const row = encodeEntry(
    EntryType.Command,
    { tickMs: 0, wallMs: index * 10, origin: NO_PROPOSAL_ORIGIN },
    new Uint8Array(bytes),
  );
  sealEntry(row, 2, index, crc32);
  return row;
}

function progressAt(appliedIndex: number): Progress {
  return { appliedIndex, revision: appliedIndex + 100, wallMs: appliedIndex * 10, digest: appliedIndex } as Progress;
}

describe("draft of a segment", () => {
  let draft: SegmentDraft;

  beforeEach(() => {
    draft = new SegmentDraft(SEGMENT_BYTES);
  });

  it("ends a segment at the last mark, and keeps the entries after it", () => {
    draft.mark(progressAt(4), 1);
    draft.mark(progressAt(6), 2);
    draft.add([4, 5, 6, 7].map((index) => entry(index)));
    const segment = draft.take(ORIGIN, LAST);
    const { firstIndex, lastIndex, firstTerm, lastTerm, firstWallMs } = segment.header;
    expect([firstIndex, lastIndex, firstTerm, lastTerm, firstWallMs]).to.deep.equal([4, 6, 2, 2, 40]);
    const { lastRevision, lastWallMs, stateDigest } = segment.header;
    expect([lastRevision, lastWallMs, stateDigest]).to.deep.equal([106, 60, 6]);
    expect([...segmentEntries(segment)].flat().map(({ index }) => index)).to.deep.equal([4, 5, 6]);
    expect([draft.lastIndex, draft.isEmpty]).to.deep.equal([7, false]);
  });

  it("leaves out unknown numbers without a mark", () => {
    draft.mark(progressAt(9), 1);
    draft.add([4, 5].map((index) => entry(index)));
    const segment = draft.take(ORIGIN, LAST);
    const { lastIndex, lastRevision, lastWallMs, stateDigest } = segment.header;
    expect([lastIndex, lastRevision, lastWallMs, stateDigest]).to.deep.equal([5, undefined, undefined, undefined]);
    expect([segment.revision, segment.wallMs, draft.isEmpty]).to.deep.equal([3, 30, true]);
  });

  it("is full with 8 MiB", () => {
    draft.add([entry(1, SEGMENT_BYTES / 2)]);
    expect(draft.isFull).to.equal(false);
    draft.add([entry(2, SEGMENT_BYTES / 2)]);
    expect(draft.isFull).to.equal(true);
    draft.clear();
    expect([draft.bytes, draft.isFull]).to.deep.equal([0, false]);
  });

  it("reports since when the state is beyond an index", () => {
    draft.mark(progressAt(4), 100);
    draft.mark(progressAt(4), 200);
    draft.mark(progressAt(8), 300);
    expect([3, 4, 7, 8].map((index) => draft.changedMs(index))).to.deep.equal([100, 300, 300, undefined]);
    draft.forget(4);
    expect(draft.changedMs(3)).to.equal(300);
  });
});
