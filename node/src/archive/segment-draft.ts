/**
 * The entries of the next segment, as rows of the log, and where the segment may end.
 *
 * A segment should end between two slices of applying, because there this member knows its revision, wall clock and
 * digest. Such places are marked from time to time. Without a mark, the segment ends where it is full, and its header
 * does not have these numbers.
 */

import type { Entry, SegmentHeader } from "@quoin/backup";
import { entryIndex, entryTerm, entryWallMs } from "../raft/index.ts";
import type { Progress } from "../state/index.ts";

/** How many marks are kept; above it, every second one is dropped. */
const MARKS_MAX = 512;

/** A place between two slices of applying, and when this member reached it. */
interface Mark {
  readonly progress: Pick<Progress, "appliedIndex" | "revision" | "wallMs" | "digest">;
  readonly atMs: number;
}

/** A segment ready to be written. */
export interface Segment {
  readonly header: SegmentHeader;
  readonly rows: readonly Uint8Array[];
  /** The revision and wall clock at its end, as far as they are known. */
  readonly revision: number;
  readonly wallMs: number;
}

/** The id of a segment, the object that it follows, and the fields of every object of the cluster. */
export type SegmentOrigin = Pick<
  SegmentHeader,
  "id" | "clusterId" | "clusterName" | "quoinVersion" | "clusterVersion" | "previousId" | "previousHash"
>;

export class SegmentDraft {
  readonly #segmentBytes: number;
  #rows: Uint8Array[] = [];
  #bytes = 0;
  #marks: Mark[] = [];
  /** The digest of the state before the first mark; null = not known. */
  #digestBefore: number | null = null;

  /** @param segmentBytes a segment is full at this many bytes of entries */
  constructor(segmentBytes: number) {
    this.#segmentBytes = segmentBytes;
  }

  /** Bytes of the collected entries. */
  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#segmentBytes;
  }

  /** The index of the last collected entry; undefined if there is none. */
  get lastIndex(): number | undefined {
    const last = this.#rows.at(-1);
    return last === undefined ? undefined : entryIndex(last);
  }

  /** Marks the progress of the state. */
  mark({ appliedIndex, revision, wallMs, digest }: Progress, atMs: number): void {
    if (appliedIndex === (this.#marks.at(-1)?.progress.appliedIndex ?? -1)) {
      return;
    }
    this.#marks.push({ progress: { appliedIndex, revision, wallMs, digest }, atMs });
    if (this.#marks.length > MARKS_MAX) {
      this.#marks = this.#marks.filter((_, position) => position % 2 === 0);
    }
  }

  /** When an entry beyond the index first changed something; undefined if none has. */
  changedMs(index: number): number | undefined {
    let before = this.#digestBefore;
    for (const { progress, atMs } of this.#marks) {
      if (progress.appliedIndex > index && progress.digest !== before) {
        return atMs;
      }
      before = progress.digest;
    }
    return undefined;
  }

  /** Forgets marks up to the index. */
  forget(index: number): void {
    this.#digestBefore =
      this.#marks.findLast(({ progress }) => progress.appliedIndex <= index)?.progress.digest ?? this.#digestBefore;
    this.#marks = this.#marks.filter(({ progress }) => progress.appliedIndex > index);
  }

  add(rows: readonly Uint8Array[]): void {
    for (const row of rows) {
      this.#rows.push(row);
      this.#bytes += row.length;
    }
  }

  clear(): void {
    this.#rows = [];
    this.#bytes = 0;
  }

  /** Takes a segment out of the collected entries; the rest stays. There must be an entry. */
  take(origin: SegmentOrigin, last: { readonly revision: number; readonly wallMs: number }): Segment {
    const first = this.#rows[0] as Uint8Array;
    const firstIndex = entryIndex(first);
    const collectedIndex = firstIndex + this.#rows.length - 1;
    const mark = this.#marks.findLast(({ progress: { appliedIndex } }) => {
      return appliedIndex >= firstIndex && appliedIndex <= collectedIndex;
    })?.progress;
    const rows = this.#rows.slice(0, (mark?.appliedIndex ?? collectedIndex) - firstIndex + 1);
    this.#rows = this.#rows.slice(rows.length);
    this.#bytes = this.#rows.reduce((bytes, row) => bytes + row.length, 0);
    const lastRow = rows.at(-1) as Uint8Array;
    const header: SegmentHeader = {
      ...origin,
      firstIndex,
      lastIndex: entryIndex(lastRow),
      firstTerm: entryTerm(first),
      lastTerm: entryTerm(lastRow),
      // Entries that the consensus core itself adds have no time.
      firstWallMs: entryWallMs(first) === 0 ? undefined : entryWallMs(first),
      lastRevision: mark?.revision,
      lastWallMs: mark?.wallMs,
      stateDigest: mark?.digest,
    };
    return { header, rows, revision: mark?.revision ?? last.revision, wallMs: mark?.wallMs ?? last.wallMs };
  }
}

/** The entries of a segment in the form of backups. */
export function* segmentEntries({ rows }: Segment): Generator<Entry[], void, undefined> {
  for (const row of rows) {
    yield [{ index: entryIndex(row), term: entryTerm(row), bytes: row }];
  }
}
