/**
 * Quotas: limits on what one namespace may use, and on the API keys of one user.
 *
 * A namespace quota is a setting for all namespaces, and a single namespace may have its own. The limits of a single
 * namespace have their own row, apart from the other settings: there may be thousands, and every request reads the
 * other settings.
 */

import { invariant } from "../../primitives/index.ts";
import { CoordinationError } from "./coordination-error.ts";
import type { StateLimits } from "./limits.ts";
import { decodeText, RecordReader, RecordWriter } from "./record.ts";
import { QUOTA_COUNT_ROW, quotaRow, tableRange } from "./rows.ts";
import type { StateReader } from "./store.ts";
import type { Transaction } from "./transaction.ts";

/** Stored API keys of a user, revoked and expired ones included. The limit lets one entry process all of them. */
export const API_KEYS_PER_USER_MAX = 1_000;

/** Names of the namespace quotas in settings, answers and metrics. */
export const NAMESPACE_QUOTAS = [
  "bytes",
  "keys",
  "locks",
  "memory_bytes",
  "memory_regions",
  "event_bytes",
  "event_logs",
  "watches",
  "sessions",
] as const;

export type NamespaceQuota = (typeof NAMESPACE_QUOTAS)[number];
/** The limit of each quota. */
export type NamespaceLimits = Readonly<Record<NamespaceQuota, number>>;
/** The limits set for one namespace. */
export type NamespaceOverrides = ReadonlyMap<NamespaceQuota, number>;

const NO_OVERRIDES: NamespaceOverrides = new Map();
/** The greatest limit that a setting allows. */
export const QUOTA_MAX = 1_000_000_000_000_000;
/** The most limits of single namespaces in a cluster. */
const OVERRIDES_MAX = 10_000;

/** For messages: what a quota limits, and how to get below the limit. */
const WORDS: Readonly<Record<NamespaceQuota, readonly [things: string, remedy: string]>> = {
  bytes: [
    "bytes of keys, values, locks and descriptions of memory regions",
    "delete keys, release locks or free regions",
  ],
  keys: ["keys", "delete some"],
  locks: ["locks", "use those that are there"],
  memory_bytes: ["bytes in memory regions", "free or shrink some"],
  memory_regions: ["memory regions", "free some"],
  event_bytes: ["bytes of events", "delete logs or limit their retention"],
  event_logs: ["event logs", "delete some"],
  watches: ["watches and followers of event logs at this member", "end some"],
  sessions: ["sessions", "end some"],
};

/** The limits of namespaces without any setting. */
export function unsetLimits(limits: StateLimits): NamespaceLimits {
  return {
    bytes: limits.dataBytesMax,
    keys: limits.namespaceKeysMax,
    locks: limits.namespaceLocksMax,
    memory_bytes: limits.memoryNamespaceBytesMax,
    memory_regions: limits.namespaceRegionsMax,
    event_bytes: limits.eventBytesMax,
    event_logs: limits.namespaceLogsMax,
    watches: limits.namespaceWatchesMax,
    sessions: limits.namespaceSessionsMax,
  };
}

/** The refusal of a change that would exceed a limit of a namespace. */
export function namespaceFull(
  namespace: string,
  quota: NamespaceQuota,
  { limit, used, added }: { readonly limit: number; readonly used: number; readonly added: number },
): CoordinationError {
  const [things, remedy] = WORDS[quota];
  return new CoordinationError(
    "QUOTA",
    `namespace "${namespace}" has ${used} of at most ${limit} ${things}, and this would add ${added}; ` +
      `${remedy}, or ask an administrator to raise quota.namespace.${namespace}.${quota}`,
    {
      details: new Map([
        ["quota", `quota.namespace.${quota}`],
        ["namespace", namespace],
        ["limit", String(limit)],
        ["used", String(used)],
      ]),
    },
  );
}

/** The refusal of another API key. */
export function userFull(userId: string, limit: number, used: number): CoordinationError {
  return new CoordinationError(
    "QUOTA",
    `user ${userId} has ${used} of at most ${limit} API keys; revoke some first, or ask an administrator to raise ` +
      "quota.user.api_keys",
    {
      details: new Map([
        ["quota", "quota.user.api_keys"],
        ["user", userId],
        ["limit", String(limit)],
        ["used", String(used)],
      ]),
    },
  );
}

/** The limits set for this namespace; empty if it has no row. */
export function readOverrides(reader: StateReader, namespace: string): NamespaceOverrides {
  const bytes = reader.get(quotaRow(namespace));
  return bytes === undefined ? NO_OVERRIDES : decodeOverrides(bytes);
}

/** The limits of every namespace for which some are set, ordered by the bytes of its name; it may not exist. */
export function readAllOverrides(reader: StateReader): [namespace: string, overrides: NamespaceOverrides][] {
  const found: [string, NamespaceOverrides][] = [];
  const { from, to } = tableRange("quota");
  reader.scan(from, to, ({ key, value }) => {
    // The row without a name counts them.
    if (key.length > from.length) {
      found.push([decodeText(key.subarray(from.length)), decodeOverrides(value)]);
    }
    return true;
  });
  return found;
}

function decodeOverrides(bytes: Uint8Array): NamespaceOverrides {
  const overrides = new Map<NamespaceQuota, number>();
  const fields = new RecordReader(bytes);
  for (let left = fields.uint8(); left > 0; left--) {
    const quota = fields.text();
    invariant(isNamespaceQuota(quota), "stored limits are those of a known quota", () => quota);
    overrides.set(quota, fields.uint53());
  }
  fields.end();
  return overrides;
}

/** Replaces the limits of the namespace. */
export function writeOverrides(transaction: Transaction, namespace: string, overrides: NamespaceOverrides): void {
  const before = readOverrides(transaction, namespace).size;
  const count = countOverrides(transaction) + overrides.size - before;
  if (overrides.size === 0) {
    transaction.delete(quotaRow(namespace));
  } else {
    const writer = new RecordWriter().uint8(overrides.size);
    for (const quota of NAMESPACE_QUOTAS.filter((name) => overrides.has(name))) {
      writer.text(quota).uint53(overrides.get(quota) as number);
    }
    transaction.put(quotaRow(namespace), writer.finish());
  }
  transaction.put(QUOTA_COUNT_ROW, new RecordWriter().uint53(count).finish());
}

/** Raises QUOTA if this many more limits of single namespaces would be too many. */
export function requireOverrideCapacity(reader: StateReader, added: number): void {
  const count = countOverrides(reader);
  if (added > 0 && count + added > OVERRIDES_MAX) {
    throw new CoordinationError(
      "QUOTA",
      `the cluster has ${count} of at most ${OVERRIDES_MAX} limits of single namespaces; set some to their defaults first`,
      {
        details: new Map([
          ["limit", String(OVERRIDES_MAX)],
          ["used", String(count)],
        ]),
      },
    );
  }
}

export function isNamespaceQuota(text: string): text is NamespaceQuota {
  return (NAMESPACE_QUOTAS as readonly string[]).includes(text);
}

function countOverrides(reader: StateReader): number {
  const bytes = reader.get(QUOTA_COUNT_ROW);
  return bytes === undefined ? 0 : new RecordReader(bytes).uint53();
}
