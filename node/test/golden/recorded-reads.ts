/**
 * What can be read from a golden state, as JSON: what a user would miss if a later version understood the data differently.
 *
 * Fields are named one by one, so that a later version may add fields of its own.
 */

import { createHash } from "node:crypto";
import {
  describeLock,
  describeMemory,
  describeSession,
  type LockName,
  listApiKeys,
  listKeys,
  listLogs,
  listMemory,
  listSessions,
  listUsers,
  readCluster,
  readEvents,
  readFormerCluster,
  readHistoryBounds,
  readMemory,
  readNamespaceUsage,
  readProgress,
  readSettings,
  readSigningKeys,
  readUsage,
  type StateReader,
  scanHistory,
  visitWaits,
} from "../../src/state/index.ts";
import { CLUSTER_ID, SUCCESSOR_IDS } from "./identities.ts";

const NAMESPACES = ["default", "golden"];
const LOCKS: readonly LockName[] = [
  { namespace: "golden", rw: false, name: "guard" },
  { namespace: "golden", rw: true, name: "shared" },
  { namespace: "default", rw: false, name: "delayed" },
];
const ALL = { entriesMax: 1_000, bytesMax: 1_000_000, keysOnly: false };
const PAGE = 1_000;
/** Longer values are recorded by their hash. */
const SHOWN_BYTES = 64;

export interface RecordedReads {
  readonly progress: { readonly appliedIndex: number; readonly wallMs: number };
  readonly keys: readonly { readonly key: string }[];
  readonly [part: string]: unknown;
}

export function recordedReads(state: StateReader): RecordedReads {
  const { appliedIndex, revision, digest, tickMs, wallMs } = readProgress(state);
  const reads = {
    progress: { appliedIndex, revision, digest, tickMs, wallMs },
    cluster: clusterOf(state),
    keys: NAMESPACES.flatMap((namespace) => keysOf(state, namespace)),
    locks: LOCKS.map((name) => lockOf(state, name)),
    regions: regionsOf(state),
    logs: logsOf(state),
    users: usersOf(state),
    apiKeys: apiKeysOf(state),
    signingKeys: readSigningKeys(state).map(({ kid, createdAtMs }) => ({ kid, createdAtMs })),
    settings: { revision: readSettings(state).revision, values: Object.fromEntries(readSettings(state).values) },
    usage: readUsage(state, "day", 0, Number.MAX_SAFE_INTEGER),
    namespaceUsage: NAMESPACES.map((namespace) => namespaceUsageOf(state, namespace)),
    ...sessionsOf(state),
    history: historyOf(state),
    formerClusters: [CLUSTER_ID, ...SUCCESSOR_IDS].map((id) => readFormerCluster(state, id) ?? null),
  };
  // As it is read from a file.
  return JSON.parse(JSON.stringify(reads)) as RecordedReads;
}

/** Without what a state of 0.1.0 does not count. */
function namespaceUsageOf(state: StateReader, namespace: string): unknown {
  const { sessions, ...others } = readNamespaceUsage(state, namespace);
  return sessions === 0 ? others : { ...others, sessions };
}

/** Nothing for a state of 0.1.0, which has none. */
function sessionsOf(state: StateReader): { readonly sessions?: unknown } {
  const { sessions } = listSessions(state, "golden", 0, { entriesMax: PAGE, bytesMax: ALL.bytesMax });
  const shown = sessions.map(({ metadata, sessionId, ...others }) => {
    const keys = describeSession(state, "golden", sessionId).keys.map((key) => Buffer.from(key).toString());
    return { ...others, sessionId, metadata: Buffer.from(metadata).toString(), keys };
  });
  return shown.length === 0 ? {} : { sessions: shown };
}

function clusterOf(state: StateReader): unknown {
  const cluster = readCluster(state);
  const { voters, outgoing, learners } = cluster?.configuration ?? {};
  const members = cluster?.members.map(({ id, name, address }) => ({ id, name, address }));
  return { clusterId: cluster?.clusterId, name: cluster?.name, voters, outgoing, learners, members };
}

function keysOf(state: StateReader, namespace: string): unknown[] {
  const { keys } = listKeys(state, namespace, new Uint8Array(0), undefined, ALL);
  return keys.map(({ key, value, createRevision, modRevision, version, deadlineMs }) => {
    return { namespace, key: hex(key), value: shown(value), createRevision, modRevision, version, deadlineMs };
  });
}

function lockOf(state: StateReader, name: LockName): unknown {
  const { lock, state: lockState, holds } = describeLock(state, name);
  const waits: unknown[] = [];
  visitWaits(state, lock, ({ principal, mode }) => waits.push({ subject: principal.subject, mode }) > 0);
  return {
    ...name,
    state: lockState,
    holds: holds.map(({ token, subject, owner, mode, deadlineMs }) => ({ token, subject, owner, mode, deadlineMs })),
    waits,
  };
}

function regionsOf(state: StateReader): unknown[] {
  const { regions } = listMemory(state, "golden", undefined, PAGE);
  return regions.map(({ regionId }) => {
    const { sizeBytes, version, label } = describeMemory(state, "golden", regionId);
    const { data } = readMemory(state, "golden", regionId, 0, sizeBytes);
    return { regionId: hex(regionId), sizeBytes, version, label, data: shown(data) };
  });
}

function logsOf(state: StateReader): unknown[] {
  const { logs } = listLogs(state, { namespaces: ["golden"], name: null }, null, PAGE, () => true);
  return logs.map((log) => {
    const { logId, name, settings, firstSequence, lastSequence, sizeBytes } = log;
    const events = readEvents(state, log, 1, { eventsMax: PAGE, bytesMax: ALL.bytesMax });
    return {
      logId: hex(logId),
      name,
      settings,
      firstSequence,
      lastSequence,
      sizeBytes,
      events: events.map(({ sequence, timestampMs, idempotencyKey, payload }) => {
        return { sequence, timestampMs, idempotencyKey, payload: Buffer.from(payload).toString() };
      }),
    };
  });
}

function usersOf(state: StateReader): unknown[] {
  const { items } = listUsers(state, null, PAGE, () => true);
  return items.map(({ userId, email, role, namespaces, status, passwordHash, passwordVersion }) => {
    return { userId, email, role, namespaces, status, passwordHash, passwordVersion };
  });
}

function apiKeysOf(state: StateReader): unknown[] {
  const { items } = listApiKeys(state, null, PAGE, true, () => true);
  return items.map(({ apiKeyId, userId, name, prefix, sha256, expiresAtMs, revokedAtMs }) => {
    return { apiKeyId, userId, name, prefix, sha256: hex(sha256), expiresAtMs, revokedAtMs };
  });
}

function historyOf(state: StateReader): unknown {
  const { compactRevision, oldestRevision, bytes } = readHistoryBounds(state);
  const revisions: unknown[] = [];
  scanHistory(state, compactRevision, Number.MAX_SAFE_INTEGER - 1, (changes) => {
    return revisions.push({ revision: changes.revision, changes: changes.changes.length }) > 0;
  });
  return { compactRevision, oldestRevision, bytes, revisions };
}

function shown(bytes: Uint8Array): string {
  return bytes.length <= SHOWN_BYTES
    ? hex(bytes)
    : `${bytes.length} bytes, SHA-256 ${createHash("sha256").update(bytes).digest("hex")}`;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
