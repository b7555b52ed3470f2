/**
 * The outcome of a client's command, and its encoding for replay rows.
 *
 * An outcome is data: the same on every member that applies the entry, and the same when a retry gets it from its row.
 * Deadlines are stored as cluster ticks and become remaining times when an answer is made.
 */

import { invariant } from "../../primitives/index.ts";
import { CoordinationError, isReason } from "./coordination-error.ts";
import { readHoldFields, writeHoldFields } from "./lock-fields.ts";
import type { StoredKey } from "./objects.ts";
import { RecordReader, RecordWriter } from "./record.ts";
import { type ClaimSlotResult, REGION_ID_BYTES, type Result, type StoredResult } from "./results.ts";

/**
 * Whether the answer was computed now, taken from its row, or taken from a row that was too small for its values. In
 * the last case `previous` and the current value of a key are empty, whatever they were.
 */
export type Replayed = "no" | "yes" | "no-values";

export interface Outcome {
  /** The result, or why the command was refused. */
  readonly answer: Result | CoordinationError;
  readonly replayed: Replayed;
}

const NO_BYTES = new Uint8Array(0);
const KINDS = {
  error: 0,
  "create-namespace": 1,
  "put-key": 2,
  "delete-key": 3,
  "compare-and-swap": 4,
  membership: 5,
  "claim-slot": 6,
  "create-lock": 20,
  "release-lock": 21,
  "force-release-lock": 22,
  // 23 is not an answer but the state of an acquisition; see acquisition.ts.
  "allocate-memory": 30,
  "resize-memory": 31,
  "free-memory": 32,
  "write-memory": 33,
  "compact-history": 40,
  "put-settings": 60,
  "rotate-signing-key": 61,
  "reset-owner": 62,
} as const;
const VERDICTS: readonly ClaimSlotResult["verdict"][] = ["accepted", "no-slot", "slot-taken"];

/** The answer without the values in it; the answer itself if its kind has no values. */
export function withoutValues(answer: StoredResult | CoordinationError): StoredResult | CoordinationError {
  if (answer instanceof CoordinationError) {
    return answer;
  }
  switch (answer.kind) {
    case "put-key":
    case "delete-key":
      return { ...answer, previous: answer.previous === null ? null : { ...answer.previous, value: NO_BYTES } };
    case "compare-and-swap":
      return { ...answer, currentValue: NO_BYTES };
    default:
      return answer;
  }
}

/** Writes the form that `decodeAnswer` reads. */
export function writeAnswer(writer: RecordWriter, answer: StoredResult | CoordinationError): void {
  if (answer instanceof CoordinationError) {
    writer.uint8(KINDS.error).text(answer.reason).text(answer.message).uint32(answer.details.size);
    for (const [name, value] of answer.details) {
      writer.text(name).text(value);
    }
    return;
  }
  writer.uint8(KINDS[answer.kind]).uint53(answer.revision);
  switch (answer.kind) {
    case "create-namespace":
      writer.uint53(answer.createdAtMs);
      return;
    case "put-key":
      writer.uint53(answer.modRevision).boolean(answer.created);
      writePrevious(writer, answer.previous);
      return;
    case "delete-key":
      writePrevious(writer, answer.previous);
      return;
    case "allocate-memory":
      writer.fixed(answer.regionId, REGION_ID_BYTES).uint53(answer.sizeBytes).uint53(answer.version);
      return;
    case "resize-memory":
      writer.uint53(answer.sizeBytes).uint53(answer.previousSizeBytes).uint53(answer.version);
      return;
    case "free-memory":
      return;
    case "write-memory":
      writer.uint53(answer.bytesWritten).uint53(answer.version);
      return;
    case "membership":
      writer.uint53(answer.configIndex).uint53(answer.memberId);
      return;
    case "claim-slot":
      writer.uint8(VERDICTS.indexOf(answer.verdict)).uint53(answer.memberId);
      return;
    case "create-lock":
      writer.uint53(answer.createdAtMs);
      return;
    case "release-lock":
      return;
    case "force-release-lock":
      writer.boolean(answer.previous !== null);
      if (answer.previous !== null) {
        writer.uint53(answer.previous.token);
        writeHoldFields(writer, answer.previous);
      }
      return;
    case "compact-history":
      writer.uint53(answer.compactRevision);
      return;
    case "put-settings":
      writer.uint53(answer.settingsRevision);
      return;
    case "rotate-signing-key":
      writer.text(answer.kid);
      return;
    case "reset-owner":
      writer.text(answer.userId).boolean(answer.created);
      return;
    case "compare-and-swap":
      writer.boolean(answer.success).boolean(answer.currentExists).bytes(answer.currentValue);
      writer.uint53(answer.modRevision);
      return;
  }
}

export function encodeAnswer(answer: StoredResult | CoordinationError): Uint8Array {
  const writer = new RecordWriter();
  writeAnswer(writer, answer);
  return writer.finish();
}

export function decodeAnswer(bytes: Uint8Array): StoredResult | CoordinationError {
  const reader = new RecordReader(bytes);
  const kind = reader.uint8();
  const answer = kind === KINDS.error ? readError(reader) : readResult(kind, reader);
  reader.end();
  return answer;
}

function readResult(kind: number, reader: RecordReader): StoredResult {
  const revision = reader.uint53();
  switch (kind) {
    case KINDS["create-namespace"]:
      return { kind: "create-namespace", revision, createdAtMs: reader.uint53() };
    case KINDS["put-key"]:
      return {
        kind: "put-key",
        revision,
        modRevision: reader.uint53(),
        created: reader.boolean(),
        previous: readPrevious(reader),
      };
    case KINDS["delete-key"]:
      return { kind: "delete-key", revision, previous: readPrevious(reader) };
    case KINDS["compare-and-swap"]:
      return {
        kind: "compare-and-swap",
        revision,
        success: reader.boolean(),
        currentExists: reader.boolean(),
        currentValue: reader.bytes(),
        modRevision: reader.uint53(),
      };
    case KINDS["allocate-memory"]:
      return {
        kind: "allocate-memory",
        revision,
        regionId: reader.fixed(REGION_ID_BYTES),
        sizeBytes: reader.uint53(),
        version: reader.uint53(),
      };
    case KINDS["resize-memory"]:
      return {
        kind: "resize-memory",
        revision,
        sizeBytes: reader.uint53(),
        previousSizeBytes: reader.uint53(),
        version: reader.uint53(),
      };
    case KINDS["free-memory"]:
      return { kind: "free-memory", revision };
    case KINDS["write-memory"]:
      return { kind: "write-memory", revision, bytesWritten: reader.uint53(), version: reader.uint53() };
    case KINDS.membership:
      return { kind: "membership", revision, configIndex: reader.uint53(), memberId: reader.uint53() };
    case KINDS["claim-slot"]: {
      const verdict = VERDICTS[reader.uint8()];
      invariant(verdict !== undefined, "claims have a known verdict");
      return { kind: "claim-slot", revision, verdict, memberId: reader.uint53() };
    }
    case KINDS["create-lock"]:
      return { kind: "create-lock", revision, createdAtMs: reader.uint53() };
    case KINDS["release-lock"]:
      return { kind: "release-lock", revision };
    case KINDS["force-release-lock"]: {
      const previous = reader.boolean() ? { token: reader.uint53(), ...readHoldFields(reader) } : null;
      return { kind: "force-release-lock", revision, previous };
    }
    case KINDS["compact-history"]:
      return { kind: "compact-history", revision, compactRevision: reader.uint53() };
    case KINDS["put-settings"]:
      return { kind: "put-settings", revision, settingsRevision: reader.uint53() };
    case KINDS["rotate-signing-key"]:
      return { kind: "rotate-signing-key", revision, kid: reader.text() };
    case KINDS["reset-owner"]:
      return { kind: "reset-owner", revision, userId: reader.text(), created: reader.boolean() };
    default:
      invariant(false, "answers have a known kind", () => String(kind));
  }
}

function readError(reader: RecordReader): CoordinationError {
  const reason = reader.text();
  invariant(isReason(reason), "stored refusals have a known reason", () => reason);
  const message = reader.text();
  const details = new Map<string, string>();
  for (let left = reader.uint32(); left > 0; left--) {
    details.set(reader.text(), reader.text());
  }
  return new CoordinationError(reason, message, { details });
}

function writePrevious(writer: RecordWriter, previous: StoredKey | null): void {
  writer.boolean(previous !== null);
  if (previous !== null) {
    writer.bytes(previous.key).bytes(previous.value).uint53(previous.createRevision).uint53(previous.modRevision);
    writer.uint53(previous.version).uint53(previous.deadlineMs);
  }
}

function readPrevious(reader: RecordReader): StoredKey | null {
  if (!reader.boolean()) {
    return null;
  }
  return {
    key: reader.bytes(),
    value: reader.bytes(),
    createRevision: reader.uint53(),
    modRevision: reader.uint53(),
    version: reader.uint53(),
    deadlineMs: reader.uint53(),
  };
}
