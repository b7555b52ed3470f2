/**
 * How much each namespace has of what its quotas limit: one account for each, exact after every entry.
 *
 * Whatever adds or takes away something of a namespace says so to its account, in the same entry. Accounts are kept in
 * memory, and the rows of those that have changed are written once for each batch of entries: the digest of the state
 * goes over the changes from which they follow. So a write costs no further read, and no row of its own within a batch.
 */

import { invariant, writeUint53 } from "../raft/index.ts";
import { NAMESPACE_QUOTAS, type NamespaceLimits, type NamespaceQuota, namespaceFull } from "./quotas.ts";
import { decodeText, RecordReader } from "./record.ts";
import { namespaceUsageRow, tableRange, withNul } from "./rows.ts";
import type { StateReader } from "./store.ts";
import type { Transaction } from "./transaction.ts";

/** What is kept in the state: watches are counted where they are served. */
export const KEPT_QUOTAS = NAMESPACE_QUOTAS.filter((quota) => quota !== "watches") as readonly KeptQuota[];

export type KeptQuota = Exclude<NamespaceQuota, "watches">;
/** How much a namespace has of each. */
export type NamespaceUsage = Readonly<Record<KeptQuota, number>>;

type Counting = { -readonly [Quota in KeptQuota]: number };

/** Accounts that stay in memory from one batch to the next: some MiB. */
const ACCOUNTS_KEPT_MAX = 10_000;
const NUMBER_BYTES = 8;
const NOTHING: NamespaceUsage = {
  bytes: 0,
  keys: 0,
  locks: 0,
  memory_bytes: 0,
  memory_regions: 0,
  event_bytes: 0,
  event_logs: 0,
};

/** The account of one namespace. Good for the entry that is applied, and not longer. */
class NamespaceAccount {
  readonly #namespace: string;
  readonly #accounts: Accounts;
  readonly #counts: Counting;
  /** Null until they are asked for, and again when settings have changed. */
  #limits: NamespaceLimits | null = null;

  constructor(namespace: string, accounts: Accounts, usage: NamespaceUsage) {
    this.#namespace = namespace;
    this.#accounts = accounts;
    this.#counts = { ...usage };
  }

  get namespace(): string {
    return this.#namespace;
  }

  get usage(): NamespaceUsage {
    return this.#counts;
  }

  /** Refuses with QUOTA if so much more would exceed the limit; what does not grow is never refused. */
  requireRoom(quota: KeptQuota, added: number): void {
    if (added <= 0) {
      return;
    }
    this.#limits ??= this.#accounts.limitsOf(this.#namespace);
    const used = this.#counts[quota];
    const limit = this.#limits[quota];
    if (used + added > limit) {
      throw namespaceFull(this.#namespace, quota, { limit, used, added });
    }
  }

  /** Counts what came (positive) or went (negative). */
  count(quota: KeptQuota, change: number): void {
    const used = this.#counts[quota] + change;
    invariant(
      used >= 0,
      "what a namespace has never falls below zero",
      () => `${quota} of ${this.#namespace}: ${used}`,
    );
    this.#counts[quota] = used;
    this.#accounts.changed.add(this);
  }

  /** The settings have changed. */
  forgetLimits(): void {
    this.#limits = null;
  }
}

/** What an account needs of all of them. */
interface Accounts {
  /** Those whose rows are to be written. */
  readonly changed: Set<NamespaceAccount>;
  limitsOf(namespace: string): NamespaceLimits;
}

/** The accounts of a state machine. */
export class NamespaceAccounts {
  readonly #transaction: Transaction;
  readonly #accounts: Accounts;
  readonly #open = new Map<string, NamespaceAccount>();

  /** @param limitsOf the limits of a namespace, by the settings as they are in the transaction */
  constructor(transaction: Transaction, limitsOf: (namespace: string) => NamespaceLimits) {
    this.#transaction = transaction;
    this.#accounts = { changed: new Set(), limitsOf };
  }

  /** The account of this namespace, which need not exist yet. */
  of(namespace: string): NamespaceAccount {
    let account = this.#open.get(namespace);
    if (account === undefined) {
      account = new NamespaceAccount(namespace, this.#accounts, readNamespaceUsage(this.#transaction, namespace));
      this.#open.set(namespace, account);
    }
    return account;
  }

  /** Every limit may be another one. */
  onSettingsChanged(): void {
    for (const account of this.#open.values()) {
      account.forgetLimits();
    }
  }

  /** Puts the rows of all accounts that have changed since the last time into the transaction. */
  flush(): void {
    for (const { namespace, usage } of this.#accounts.changed) {
      const isEmpty = KEPT_QUOTAS.every((quota) => usage[quota] === 0);
      this.#transaction.carry(namespaceUsageRow(namespace), isEmpty ? null : encodeUsage(usage));
    }
    this.#accounts.changed.clear();
    if (this.#open.size > ACCOUNTS_KEPT_MAX) {
      this.#open.clear();
    }
  }
}

/** How much the namespace has, as of the last batch. */
export function readNamespaceUsage(reader: StateReader, namespace: string): NamespaceUsage {
  const bytes = reader.get(namespaceUsageRow(namespace));
  return bytes === undefined ? NOTHING : decodeUsage(bytes);
}

/**
 * Visits the namespaces that have anything, in the order of their names: at most `rowsMax` of them, behind `after`
 * of an earlier call. Returns the last one visited if there may be more, else null.
 */
export function scanNamespaceUsage(
  reader: StateReader,
  after: string | null,
  rowsMax: number,
  visit: (namespace: string, usage: NamespaceUsage) => void,
): string | null {
  const { from, to } = tableRange("namespaceUsage");
  let visited = 0;
  let last: string | null = null;
  reader.scan(after === null ? from : withNul(namespaceUsageRow(after)), to, ({ key, value }) => {
    last = decodeText(key.subarray(1));
    visit(last, decodeUsage(value));
    visited++;
    return visited < rowsMax;
  });
  return visited < rowsMax ? null : last;
}

function encodeUsage(usage: NamespaceUsage): Uint8Array {
  const bytes = new Uint8Array(KEPT_QUOTAS.length * NUMBER_BYTES);
  for (let at = 0; at < KEPT_QUOTAS.length; at++) {
    writeUint53(bytes, at * NUMBER_BYTES, usage[KEPT_QUOTAS[at] as KeptQuota]);
  }
  return bytes;
}

function decodeUsage(bytes: Uint8Array): NamespaceUsage {
  const fields = new RecordReader(bytes);
  const usage: Counting = { ...NOTHING };
  for (const quota of KEPT_QUOTAS) {
    usage[quota] = fields.uint53();
  }
  fields.end();
  return usage;
}
