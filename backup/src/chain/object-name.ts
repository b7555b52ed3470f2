/**
 * The names of a cluster's objects in a store. They sort by log index, and contain all that is needed to plan a restore
 * from a listing alone. They prove nothing: a reader of an object compares its header with its name.
 *
 *     <cluster id>/snapshots/<index>-<revision>-<wall clock>-<id>.qsnap
 *     <cluster id>/segments/<first>-<last>-<last revision>-<last wall clock>-<id>-<id of the previous object>.qseg
 *     <cluster id>/index.json
 *
 * Numbers have 16 digits, ids 32. A number that the writer of a segment does not know is "unknown".
 */

import { isClusterId, isObjectId, type SegmentHeader, type SnapshotHeader } from "../format/index.ts";
import type { StoredObject } from "../store/index.ts";

const DIGITS = 16;
const UNKNOWN = "unknown";
const NUMBER = /^[0-9]{16}$/;

/** The fields of a snapshot's name. */
export interface SnapshotName {
  readonly kind: "snapshot";
  readonly name: string;
  readonly clusterId: string;
  readonly id: string;
  readonly index: number;
  readonly revision: number;
  readonly wallMs: number;
}

/** The fields of a segment's name. */
export interface SegmentName {
  readonly kind: "segment";
  readonly name: string;
  readonly clusterId: string;
  readonly id: string;
  readonly previousId: string;
  readonly firstIndex: number;
  readonly lastIndex: number;
  readonly lastRevision: number | undefined;
  readonly lastWallMs: number | undefined;
}

export type ObjectName = SnapshotName | SegmentName;

/** An object of a store: the fields of its name, and its size and age. */
type Stored<T extends ObjectName> = T & Pick<StoredObject, "size" | "modifiedMs">;
export type StoredSnapshot = Stored<SnapshotName>;
export type StoredSegment = Stored<SegmentName>;

export function snapshotName(header: SnapshotHeader): string {
  const { clusterId, id, index, revision, wallMs } = header;
  return `${clusterId}/snapshots/${[index, revision, wallMs].map(digits).join("-")}-${id}.qsnap`;
}

export function segmentName(header: SegmentHeader): string {
  const { clusterId, id, previousId, firstIndex, lastIndex, lastRevision, lastWallMs } = header;
  const numbers = [firstIndex, lastIndex, lastRevision, lastWallMs].map(digits).join("-");
  return `${clusterId}/segments/${numbers}-${id}-${previousId}.qseg`;
}

/** The hint about a cluster. */
export function hintName(clusterId: string): string {
  return `${clusterId}/index.json`;
}

/** @returns the fields of a name; undefined if it is not the name of a snapshot or segment */
export function parseObjectName(name: string): ObjectName | undefined {
  const [clusterId = "", folder, file = "", ...rest] = name.split("/");
  if (rest.length > 0 || !isClusterId(clusterId)) {
    return undefined;
  }
  if (folder === "snapshots" && file.endsWith(".qsnap")) {
    return parseSnapshot(name, clusterId, file.slice(0, -".qsnap".length).split("-"));
  }
  if (folder === "segments" && file.endsWith(".qseg")) {
    return parseSegment(name, clusterId, file.slice(0, -".qseg".length).split("-"));
  }
  return undefined;
}

function parseSnapshot(name: string, clusterId: string, parts: readonly string[]): SnapshotName | undefined {
  const [index, revision, wallMs] = parts.slice(0, 3).map(parseNumber);
  const id = parts[3] ?? "";
  if (parts.length !== 4 || !isObjectId(id) || index === undefined || revision === undefined || wallMs === undefined) {
    return undefined;
  }
  return { kind: "snapshot", name, clusterId, id, index, revision, wallMs };
}

function parseSegment(name: string, clusterId: string, parts: readonly string[]): SegmentName | undefined {
  const [firstIndex, lastIndex, lastRevision, lastWallMs] = parts.slice(0, 4).map(parseNumber);
  const [id = "", previousId = ""] = parts.slice(4);
  const isKnown = parts.slice(2, 4).every((part) => part === UNKNOWN || NUMBER.test(part));
  if (parts.length !== 6 || !isKnown || !isObjectId(id) || !isObjectId(previousId)) {
    return undefined;
  }
  if (firstIndex === undefined || lastIndex === undefined || firstIndex < 1 || lastIndex < firstIndex) {
    return undefined;
  }
  return { kind: "segment", name, clusterId, id, previousId, firstIndex, lastIndex, lastRevision, lastWallMs };
}

function parseNumber(text: string): number | undefined {
  const value = Number(text);
  return NUMBER.test(text) && Number.isSafeInteger(value) ? value : undefined;
}

function digits(value: number | undefined): string {
  return value === undefined ? UNKNOWN : String(value).padStart(DIGITS, "0");
}
