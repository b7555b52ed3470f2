/**
 * Deletion of namespaces.
 *
 * The request marks the namespace: from that entry on, no request finds it, and its locks are not granted. Then the
 * leader proposes steps. Each erases a bounded number of rows: locks with their holds and waits, keys, memory regions,
 * event logs, and the changes in the history. Watchers get no changes of that, because their streams end. A row says how
 * far the deletion is, so any leader continues it, and so does a cluster that takes over the state. Other steps erase
 * events and pages. When they are gone, the last step removes the limits, the account and the record.
 *
 * Stored answers outlive the namespace until their windows end. So does its share of the history, until the history
 * begins later: it shows that no watch may start before the deletion.
 */

import {
  type ApplyContext,
  bytes,
  COUNTED_QUOTAS,
  CoordinationError,
  clientOperation,
  closeHistory,
  clusterStep,
  decodeRow,
  decodeText,
  dropClosedHistory,
  type ErasureBudget,
  encodeRow,
  eraseNamespaceRecord,
  eraseRows,
  flag,
  type Namespace,
  type NamespacedRows,
  type NamespaceUsage,
  namespaceErasureRow,
  nullable,
  ONE_REQUEST,
  readNamespace,
  readNamespaceUsage,
  recordOf,
  requireNamespace,
  type StateReader,
  smallCount,
  tableRange,
  text,
  unsetNamespaceLimits,
  VERSION_WITH_NAMESPACE_DELETION,
  writeNamespace,
} from "../core/index.ts";
import { namespaceLogs } from "../event-logs/index.ts";
import { namespaceKeys } from "../keys/index.ts";
import { namespaceLocks } from "../locks/index.ts";
import { hasErasures, namespaceRegions } from "../memory/index.ts";
import { namespaceSessions } from "../sessions/index.ts";

declare module "../core/results.ts" {
  interface StoredResults {
    readonly "delete-namespace": DeleteNamespaceResult;
  }
}

export interface DeleteNamespaceResult {
  readonly kind: "delete-namespace";
  /** Of the first request for this deletion. */
  readonly revision: number;
}

/** Begins the deletion of a namespace; without `recursive` only of one without keys, locks, regions and logs. */
export interface DeleteNamespace {
  readonly kind: "delete-namespace";
  readonly namespace: string;
  readonly recursive: boolean;
}

/** Erases rows of namespaces that are being deleted: at most this many, but for those of the last object. */
export interface EraseNamespaces {
  readonly kind: "erase-namespaces";
  readonly rowsMax: number;
}

/** How far a deletion is. */
interface Erasure {
  /** The position in `STAGES`; after all of them, the last step is left. */
  readonly stage: number;
  /** The key at which the stage continues; null = at its first one. */
  readonly from: Uint8Array | null;
}

/** Locks come first, because requests wait for them. */
const OBJECTS: readonly NamespacedRows[] = [
  namespaceLocks,
  namespaceKeys,
  namespaceSessions,
  namespaceRegions,
  namespaceLogs,
];
/** After all objects: until then, expiries may still add changes to the history. */
const HISTORY_STAGE = OBJECTS.length;
const LAST_STAGE = HISTORY_STAGE + 1;
const erasureField = recordOf<Erasure>({ stage: smallCount, from: nullable(bytes) });
/** Bytes of rows that one step reads, about. */
const READ_BYTES_MAX = 2 * 1024 * 1024;
/** Rows of the history that cost as much as one other row: most are of other namespaces, and only looked at. */
const HISTORY_ROWS = 4;
/** Deletions that one look considers. Others wait until one of these is done. */
const LOOKED_MAX = 64;
/** Details of a refusal: what the namespace has, by the name of its quota. */
const COUNTED_OBJECTS = ["keys", "locks", "memory_regions", "event_logs", "sessions"] as const;

export const deleteNamespaceOperation = clientOperation<DeleteNamespace, DeleteNamespaceResult>({
  kind: "delete-namespace",
  number: 90,
  access: "admin",
  since: VERSION_WITH_NAMESPACE_DELETION,
  usage: ONE_REQUEST,
  fields: { namespace: text, recursive: flag },
  answer: { number: 90, fields: {} },
  apply: applyDeleteNamespace,
});

export const eraseNamespacesOperation = clusterStep<EraseNamespaces>({
  kind: "erase-namespaces",
  number: 91,
  fields: { rowsMax: smallCount },
  apply: applyEraseNamespaces,
});

/** Whether a step could erase something now. */
export function hasNamespaceErasures(reader: StateReader): boolean {
  return nextErasure(reader, (namespace) => readNamespaceUsage(reader, namespace)) !== null;
}

/** A request for a deletion that is under way gets the answer to the first one. */
function applyDeleteNamespace(context: ApplyContext, command: DeleteNamespace): DeleteNamespaceResult {
  const { transaction } = context;
  const { namespace, recursive } = command;
  const record = readNamespace(transaction, namespace);
  if (record === undefined || record.deleteRevision === 0) {
    requireNamespace(transaction, namespace);
  }
  const { deleteRevision } = record as Namespace;
  if (deleteRevision > 0) {
    return { kind: "delete-namespace", revision: deleteRevision };
  }
  if (!recursive) {
    requireNoObjects(namespace, context.accounts.of(namespace).usage);
  }
  const revision = context.nextRevision();
  writeNamespace(transaction, namespace, { ...(record as Namespace), deleteRevision: revision });
  writeErasure(context, namespace, { stage: 0, from: null });
  closeHistory(context, namespace);
  return { kind: "delete-namespace", revision };
}

function requireNoObjects(namespace: string, usage: NamespaceUsage): void {
  const counts = COUNTED_OBJECTS.map((name) => [name, String(usage[name])] as const);
  if (counts.some(([, number]) => number !== "0")) {
    const shown = counts.map(([name, number]) => `${number} ${name.replace("_", " ")}`).join(", ");
    throw new CoordinationError(
      "NOT_EMPTY",
      `namespace "${namespace}" has ${shown}; delete them first, or ask for a recursive deletion`,
      { details: new Map(counts) },
    );
  }
}

function applyEraseNamespaces(context: ApplyContext, { rowsMax }: EraseNamespaces): void {
  const found = nextErasure(context.transaction, (namespace) => context.accounts.of(namespace).usage);
  if (found === null) {
    return;
  }
  const { namespace } = found;
  const budget = { rows: rowsMax, bytes: READ_BYTES_MAX };
  let { stage, from } = found;
  while (stage < LAST_STAGE && budget.rows > 0 && budget.bytes > 0) {
    from = eraseStage(context, namespace, { stage, from }, budget);
    stage += Number(from === null);
  }
  if (stage === LAST_STAGE && isLastStepDue(context.transaction, namespace, context.accounts.of(namespace).usage)) {
    finish(context, namespace);
  } else {
    writeErasure(context, namespace, { stage, from });
  }
}

/** Returns the key at which the stage continues; null if it is complete. */
function eraseStage(
  context: ApplyContext,
  namespace: string,
  { stage, from }: Erasure,
  budget: ErasureBudget,
): Uint8Array | null {
  if (stage < HISTORY_STAGE) {
    return eraseRows(context, namespace, OBJECTS[stage] as NamespacedRows, from, budget);
  }
  const next = dropClosedHistory(context, namespace, from, budget.rows * HISTORY_ROWS);
  budget.rows = 0;
  return next;
}

function finish(context: ApplyContext, namespace: string): void {
  const { transaction } = context;
  unsetNamespaceLimits(context, namespace);
  transaction.delete(namespaceErasureRow(namespace));
  eraseNamespaceRecord(transaction, namespace);
  context.countData(-namespace.length);
}

/** The first deletion that is not waiting for other steps; null if all are. */
function nextErasure(
  reader: StateReader,
  usageOf: (namespace: string) => NamespaceUsage,
): (Erasure & { readonly namespace: string }) | null {
  const { from, to } = tableRange("namespaceErasure");
  const erasures: (Erasure & { readonly namespace: string })[] = [];
  reader.scan(from, to, ({ key, value }) => {
    erasures.push({ namespace: decodeText(key.subarray(from.length)), ...decodeRow(erasureField, value) });
    return erasures.length < LOOKED_MAX;
  });
  const next = erasures.find(
    ({ namespace, stage }) => stage < LAST_STAGE || isLastStepDue(reader, namespace, usageOf(namespace)),
  );
  return next ?? null;
}

/** Whether other steps have erased the events of its logs and the pages of its regions. */
function isLastStepDue(reader: StateReader, namespace: string, usage: NamespaceUsage): boolean {
  const { deleteRevision } = readNamespace(reader, namespace) as Namespace;
  return COUNTED_QUOTAS.every((quota) => usage[quota] === 0) && !hasErasures(reader, deleteRevision);
}

function writeErasure({ transaction }: ApplyContext, namespace: string, erasure: Erasure): void {
  transaction.put(namespaceErasureRow(namespace), encodeRow(erasureField, erasure));
}
