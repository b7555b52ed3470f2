/**
 * Chains: a snapshot, and the segments that continue it, each following the one before without a gap.
 *
 * A segment follows another one if it names it. It also follows if it names a snapshot at the index where the other one
 * ends, so an older snapshot reaches further than the next snapshot. A snapshot can also join a chain in the middle of
 * a segment. Both are safe, because committed entries of one cluster are the same wherever they were archived. The
 * reader of the objects compares terms and indexes.
 *
 * If two segments follow, the chain takes the path that reaches further.
 */

import type { StoredSegment, StoredSnapshot } from "./object-name.ts";

/** The end of a chain. Revision and wall clock are undefined if the last segment does not have them. */
export interface ChainEnd {
  readonly index: number;
  readonly revision: number | undefined;
  readonly wallMs: number | undefined;
}

export interface Chain {
  readonly snapshot: StoredSnapshot;
  /** In order. The first one may begin before the snapshot's index. */
  readonly segments: readonly StoredSegment[];
  readonly end: ChainEnd;
}

/** A segment with the path after it that reaches furthest. */
interface ChainPath {
  readonly segment: StoredSegment;
  readonly next: ChainPath | undefined;
  /** The last index of the path. */
  readonly reach: number;
}

/** @param segments in the order of their first indexes */
export function chainsOf(snapshots: readonly StoredSnapshot[], segments: readonly StoredSegment[]): Chain[] {
  const paths = new ChainPaths(snapshots, segments);
  return snapshots.map((snapshot) => {
    const path: StoredSegment[] = [];
    for (let branch = paths.from(snapshot); branch !== undefined; branch = branch.next) {
      path.push(branch.segment);
    }
    return { snapshot, segments: path, end: endOf(snapshot, path) };
  });
}

/** The chain that reaches furthest, the first one if several do; undefined if there is none. */
export function furthestChain(chains: readonly Chain[]): Chain | undefined {
  return chains.reduce<Chain | undefined>(
    (best, chain) => (best === undefined || chain.end.index > best.end.index ? chain : best),
    undefined,
  );
}

/** The end of a snapshot with these segments. */
export function endOf(snapshot: StoredSnapshot, segments: readonly StoredSegment[]): ChainEnd {
  const last = segments.at(-1);
  return last === undefined
    ? { index: snapshot.index, revision: snapshot.revision, wallMs: snapshot.wallMs }
    : { index: last.lastIndex, revision: last.lastRevision, wallMs: last.lastWallMs };
}

class ChainPaths {
  readonly #paths: ChainPath[];
  readonly #byFirstIndex = new Map<number, ChainPath[]>();
  readonly #snapshotIndexes: ReadonlyMap<string, number>;

  constructor(snapshots: readonly StoredSnapshot[], segments: readonly StoredSegment[]) {
    this.#snapshotIndexes = new Map(snapshots.map(({ id, index }) => [id, index]));
    // From the end, so that the path after a segment is known before the segment.
    this.#paths = segments.toReversed().map((segment) => this.#add(segment));
  }

  /** The best path from a snapshot; undefined if no segment follows. */
  from({ id, index }: StoredSnapshot): ChainPath | undefined {
    const following = this.#startingAt(index + 1).filter(({ segment }) => segment.previousId === id);
    const joining = this.#paths.filter(({ segment }) => segment.firstIndex <= index + 1 && segment.lastIndex > index);
    // If two reach equally far, prefer the one that names the snapshot.
    return furthest([...following, ...joining]);
  }

  #add(segment: StoredSegment): ChainPath {
    const next = furthest(
      this.#startingAt(segment.lastIndex + 1).filter((branch) => this.#follows(branch.segment, segment)),
    );
    const branch = { segment, next, reach: next?.reach ?? segment.lastIndex };
    const group = this.#byFirstIndex.get(segment.firstIndex);
    if (group === undefined) {
      this.#byFirstIndex.set(segment.firstIndex, [branch]);
    } else {
      group.push(branch);
    }
    return branch;
  }

  #follows({ previousId }: StoredSegment, { id, lastIndex }: StoredSegment): boolean {
    return previousId === id || this.#snapshotIndexes.get(previousId) === lastIndex;
  }

  #startingAt(index: number): readonly ChainPath[] {
    return this.#byFirstIndex.get(index) ?? [];
  }
}

function furthest(paths: readonly ChainPath[]): ChainPath | undefined {
  return paths.reduce<ChainPath | undefined>(
    (best, branch) => (best === undefined || branch.reach > best.reach ? branch : best),
    undefined,
  );
}
