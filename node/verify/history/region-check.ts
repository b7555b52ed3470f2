/**
 * Judges the answers that clients got about memory regions. A region's version counts its changes, so the answers
 * themselves show the order of the changes. A version whose change no answer names comes from a write of unknown
 * outcome. The check searches for that write: it follows every way in which the unknown writes could have been
 * executed, until one way gives every answer or none is left.
 *
 * - Versions grow by one with each change, and never go back in time.
 * - A read shows the bytes of exactly one version. Bytes that no client wrote are zero, also after shrinking and
 *   growing.
 * - Access outside the region is refused, and no other access is. No read is shorter than requested.
 * - A freed region is gone for good.
 */

import { describeRegionRecord, type RegionAnswer, type RegionRecord, regionAnswerOf } from "./region-history.ts";
import { contradictionsOfOrder, type RevisionAnswer } from "./revision-order.ts";

/** Bound on the ways that are followed at a time; more ways prove nothing, and count as a failure. */
const POSSIBLE_STATES_MAX = 2_000;

/** One way in which the changes up to a version may have been executed. */
interface PossibleState {
  readonly bytes: Buffer;
  /** Sizes by version, from version 1. */
  readonly sizes: readonly number[];
  /** The operations of unknown outcome that were executed. */
  readonly used: readonly RegionRecord[];
}

/** An operation whose answer has the version of the region. */
interface Versioned {
  readonly record: RegionRecord;
  readonly version: number;
}

/** Returns the contradictions in the history of regions in words; empty if there are none. */
export function regionCheck(records: readonly RegionRecord[]): readonly string[] {
  const relevant = records.filter(({ outcome }) => outcome.kind !== "not-executed");
  const wrong = [...contradictionsOfOrder(revisionAnswersOfRegions(relevant))];
  for (const [region, ofRegion] of Map.groupBy(relevant, ({ operation }) => operation.region)) {
    const found = [...contradictionsOfVersions(ofRegion), ...contradictionsOfEnd(ofRegion)];
    // If the versions are wrong already, the bytes show nothing more.
    const bytes = found.length === 0 ? contradictionOfBytes(ofRegion) : null;
    wrong.push(...[...found, ...(bytes === null ? [] : [bytes])].map((what) => `region ${region}: ${what}`));
  }
  return wrong;
}

/** The revisions in the answers. They put regions and all other primitives into one order. */
export function revisionAnswersOfRegions(records: readonly RegionRecord[]): readonly RevisionAnswer[] {
  return records.flatMap((record) => {
    const answer = regionAnswerOf(record);
    if (answer === null || !("revision" in answer)) {
      return [];
    }
    const { startMs, endMs, operation } = record;
    const { revision } = answer;
    const own = isChange(answer) ? revision : null;
    return [{ name: `${describeRegionRecord(record)} on ${operation.region}`, startMs, endMs, revision, own }];
  });
}

function isChange({ kind }: RegionAnswer): boolean {
  return kind === "allocated" || kind === "written" || kind === "resized" || kind === "freed";
}

/** Versions follow the times and the revisions. */
function contradictionsOfVersions(records: readonly RegionRecord[]): readonly string[] {
  const wrong: string[] = [];
  const changes = new Map<number, RegionRecord>();
  for (const { record, version } of versioned(records)) {
    const floor = versionFloorOf(records, record);
    const isOwn = regionAnswerOf(record)?.kind !== "read";
    if (version < floor || (isOwn && version === floor)) {
      wrong.push(
        `versions never go backwards: ${describeRegionRecord(record)} got ${version}; when it began, ${floor} had been answered`,
      );
    }
    if (isOwn) {
      const other = changes.get(version);
      if (other !== undefined) {
        wrong.push(
          `a version has one change: ${version} is that of ${describeRegionRecord(other)} and ${describeRegionRecord(record)}`,
        );
      }
      changes.set(version, record);
    }
  }
  return [...wrong, ...contradictionsOfRevisions(records)];
}

/** In the order of the versions, with each change before its reads, revisions only grow. */
function contradictionsOfRevisions(records: readonly RegionRecord[]): readonly string[] {
  const order = versioned(records).toSorted((a, b) => a.version - b.version || Number(isRead(a)) - Number(isRead(b)));
  const wrong: string[] = [];
  let last: { readonly record: RegionRecord; readonly version: number; readonly revision: number } | null = null;
  for (const { record, version } of order) {
    const answer = regionAnswerOf(record);
    const revision = answer !== null && "revision" in answer ? answer.revision : 0;
    const isWrong =
      last !== null && (revision < last.revision || (version > last.version && revision === last.revision));
    // Reads of one version may come in any order.
    if (isWrong && last !== null && (version > last.version || !isReadRecord(last.record))) {
      wrong.push(
        `versions and revisions have one order: ${describeRegionRecord(record)} got version ${version} at ` +
          `${revision}, and ${describeRegionRecord(last.record)} version ${last.version} at ${last.revision}`,
      );
    }
    if (last === null || version > last.version || revision > last.revision) {
      last = { record, version, revision };
    }
  }
  return wrong;
}

function versioned(records: readonly RegionRecord[]): readonly Versioned[] {
  return records.flatMap((record) => {
    const answer = regionAnswerOf(record);
    return answer !== null && "version" in answer ? [{ record, version: answer.version }] : [];
  });
}

function isRead({ record }: Versioned): boolean {
  return isReadRecord(record);
}

function isReadRecord(record: RegionRecord): boolean {
  return regionAnswerOf(record)?.kind === "read";
}

/** The greatest version in any answer before the operation began. */
function versionFloorOf(records: readonly RegionRecord[], { startMs }: RegionRecord): number {
  return Math.max(0, ...versioned(records).flatMap(({ record, version }) => (record.endMs < startMs ? [version] : [])));
}

/** The least version that an operation which began after the end of this one was shown. */
function versionCeilingOf(records: readonly RegionRecord[], { endMs }: RegionRecord): number {
  const later = versioned(records).filter(({ record }) => record.startMs > endMs);
  return Math.min(Number.POSITIVE_INFINITY, ...later.map((one) => (isRead(one) ? one.version : one.version - 1)));
}

/** A freed region is gone for good, and no region is gone unless a client freed it. */
function contradictionsOfEnd(records: readonly RegionRecord[]): readonly string[] {
  const frees = records.filter((record) => {
    const answer = regionAnswerOf(record);
    return record.operation.kind === "free" && (answer === null || answer.kind === "freed");
  });
  const wrong: string[] = [];
  const goneMs = Math.min(
    Number.POSITIVE_INFINITY,
    ...records.flatMap((record) => {
      const kind = regionAnswerOf(record)?.kind;
      return kind === "freed" || kind === "absent" ? [record.endMs] : [];
    }),
  );
  for (const record of records) {
    const answer = regionAnswerOf(record);
    const isAbsent = answer?.kind === "absent";
    if (isAbsent && !frees.some(({ startMs }) => startMs <= record.endMs)) {
      wrong.push(`a region exists until a client frees it: ${describeRegionRecord(record)} did not find it`);
    }
    const isPresent = answer !== null && answer.kind !== "absent" && answer.kind !== "fenced";
    if (isPresent && record.startMs > goneMs) {
      wrong.push(`a region that was freed is gone for good: ${describeRegionRecord(record)} found it`);
    }
  }
  const freed = frees.filter(({ outcome }) => outcome.kind === "ok");
  if (freed.length > 1) {
    wrong.push(`a region is freed once: ${freed.map(describeRegionRecord).join(" and ")}`);
  }
  return wrong;
}

/** Why no way of executing the unknown operations gives every answer; null if one does. */
function contradictionOfBytes(records: readonly RegionRecord[]): string | null {
  const told = Map.groupBy(versioned(records), ({ version }) => version);
  const versionMax = Math.max(0, ...told.keys());
  const unknown = records.filter((record) => regionAnswerOf(record) === null && isPossibleChange(record));
  let states: readonly PossibleState[] = [{ bytes: Buffer.alloc(0), sizes: [], used: [] }];
  for (let version = 1; version <= versionMax; version++) {
    const here = told.get(version)?.map(({ record }) => record) ?? [];
    const change = here.find((record) => !isReadRecord(record));
    // An answer with this version or a later one shows the effect of the change that made it.
    const seenMs = Math.min(
      ...[...told].flatMap(([at, those]) => (at >= version ? those : [])).map(({ record }) => record.endMs),
    );
    const next = states.flatMap((state) => {
      const candidates =
        change === undefined ? unknown.filter((one) => !state.used.includes(one) && one.startMs <= seenMs) : [change];
      return candidates.flatMap((candidate) => changed(state, candidate, version) ?? []);
    });
    if (next.length === 0) {
      const by = change === undefined ? "and no operation can have made it" : `made by ${describeRegionRecord(change)}`;
      return `every version follows from the one before: version ${version} does not, ${by}`;
    }
    for (const read of here.filter(isReadRecord)) {
      const fitting = next.filter((state) => shows(state, read));
      if (fitting.length === 0) {
        return `a read shows the bytes of one version: ${describeRegionRecord(read)} got version ${version} and other bytes`;
      }
      next.splice(0, next.length, ...fitting);
    }
    states = distinct(next);
    if (states.length > POSSIBLE_STATES_MAX) {
      return `undecided: more than ${POSSIBLE_STATES_MAX} ways of executing the unknown operations up to version ${version}`;
    }
  }
  return contradictionOfRefusals(records, states, unknown);
}

function isPossibleChange({ operation }: RegionRecord): boolean {
  return operation.kind === "write" || operation.kind === "resize";
}

/** The way after the change has made this version; null if the change cannot make it. */
function changed(state: PossibleState, record: RegionRecord, version: number): PossibleState | null {
  const { operation } = record;
  const answer = regionAnswerOf(record);
  const used = answer === null ? [...state.used, record] : state.used;
  const isFirst = state.sizes.length === 0;
  if (operation.kind === "allocate") {
    return isFirst ? { bytes: Buffer.alloc(operation.sizeBytes), sizes: [operation.sizeBytes], used } : null;
  }
  const isExpected = !("expectedVersion" in operation) || (operation.expectedVersion ?? version - 1) === version - 1;
  if (isFirst || !isExpected) {
    return null;
  }
  const bytes = bytesAfter(state.bytes, operation);
  const isPrevious = answer?.kind !== "resized" || answer.previousSizeBytes === state.bytes.length;
  return bytes === null || !isPrevious ? null : { bytes, sizes: [...state.sizes, bytes.length], used };
}

/** The bytes after a write or a change of the size; null if the write lies outside. */
function bytesAfter(before: Buffer, operation: RegionRecord["operation"]): Buffer | null {
  if (operation.kind === "resize") {
    const after = Buffer.alloc(operation.sizeBytes);
    before.copy(after);
    return after;
  }
  if (operation.kind !== "write") {
    return null;
  }
  const data = Buffer.from(operation.data, "hex");
  if (operation.offset + data.length > before.length) {
    return null;
  }
  const after = Buffer.from(before);
  data.copy(after, operation.offset);
  return after;
}

function shows({ bytes }: PossibleState, { operation, outcome }: RegionRecord): boolean {
  const answer = outcome.kind === "ok" ? outcome.answer : null;
  if (operation.kind !== "read" || answer?.kind !== "read") {
    return false;
  }
  const { offset, length } = operation;
  const isWithin = answer.sizeBytes === bytes.length && offset + length <= bytes.length;
  return isWithin && bytes.toString("hex", offset, offset + length) === answer.data;
}

/** One way for each combination of bytes and used operations. */
function distinct(states: readonly PossibleState[]): readonly PossibleState[] {
  if (states.length === 1) {
    return states;
  }
  const byState = new Map<string, PossibleState>();
  for (const state of states) {
    const used = state.used.map(({ id }) => id).sort((a, b) => a - b);
    byState.set(`${used} ${state.sizes} ${state.bytes.toString("base64")}`, state);
  }
  return [...byState.values()];
}

/** Why the cluster cannot have refused something in any of the ways; null if it can. */
function contradictionOfRefusals(
  records: readonly RegionRecord[],
  states: readonly PossibleState[],
  unknown: readonly RegionRecord[],
): string | null {
  let left = states;
  for (const record of records) {
    const kind = regionAnswerOf(record)?.kind;
    if (kind !== "out-of-bounds" && kind !== "version-mismatch") {
      continue;
    }
    const from = Math.max(1, versionFloorOf(records, record));
    const to = versionCeilingOf(records, record);
    left = left.filter((state) => {
      const last = Math.min(to, state.sizes.length);
      const versions = Array.from({ length: Math.max(0, last - from + 1) }, (_, at) => from + at);
      // There may be later versions that no answer shows.
      const isOpen =
        to > state.sizes.length && unknown.some((one) => !state.used.includes(one) && one.startMs <= record.endMs);
      return isOpen || versions.some((version) => isRefused(record, version, state.sizes[version - 1] ?? 0));
    });
    if (left.length === 0) {
      return `only access outside, or with another expected version, is refused: ${describeRegionRecord(record)} was ${kind}`;
    }
  }
  return null;
}

function isRefused({ operation, outcome }: RegionRecord, version: number, sizeBytes: number): boolean {
  if (outcome.kind === "ok" && outcome.answer.kind === "version-mismatch") {
    return "expectedVersion" in operation && operation.expectedVersion !== version;
  }
  const { kind } = operation;
  const endBytes =
    kind === "read"
      ? operation.offset + operation.length
      : kind === "write"
        ? operation.offset + operation.data.length / 2
        : 0;
  return endBytes > sizeBytes;
}
