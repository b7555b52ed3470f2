/** Snapshots and segments as streams of bytes: writing, reading, and refusing any change. */

export { BackupError, type BackupErrorCode, namedError } from "./backup-error.ts";
export { ByteCursor } from "./byte-cursor.ts";
export { ByteSource, type ByteStream } from "./byte-source.ts";
export { type CheckedSnapshot, checkSnapshot } from "./checked-snapshot.ts";
export { isClusterId, isObjectId, type Origin } from "./header-fields.ts";
export type { ObjectSummary } from "./layout.ts";
export { newObjectId } from "./object-id.ts";
export type { Batches, ObjectWriting } from "./object-writer.ts";
export { RecordBuffer } from "./record-buffer.ts";
export type { ObjectReading } from "./records.ts";
export { type Entry, readSegment, type SegmentHeader, writeSegment } from "./segment.ts";
export { type Row, readSnapshot, type SnapshotHeader, writeSnapshot } from "./snapshot.ts";
