/**
 * How much each namespace uses of its quotas: one account for each, exact after every entry.
 *
 * An entry that adds or removes something of a namespace also updates its account. Accounts are in memory, and the rows
 * of changed accounts are written once for each batch of entries. The digest covers the changes that determine them. So
 * a write needs no further read, and no row of its own within a batch.
 */

import { withNul } from "../../bytes/index.ts";
import { invariant, writeUint53 } from "../../primitives/index.ts";
import { NAMESPACE_QUOTAS, type NamespaceLimits, type NamespaceQuota, namespaceFull } from "./quotas.ts";
import { decodeText, RecordReader } from "./record.ts";
import { namespaceUsageRow, tableRange } from "./rows.ts";
import type { StateReader } from "./store.ts";
import type { Transaction } from "./transaction.ts";

/** The quotas whose usage is in the state; watches are counted at the member that serves them. */
export const COUNTED_QUOTAS = NAMESPACE_QUOTAS.filter((quota) => quota !== "watches") as readonly CountedQuota[];

export type CountedQuota = Exclude<NamespaceQuota, "watches">;
/** How much a namespace uses of each quota. */
export type NamespaceUsage = Readonly<Record<CountedQuota, number>>;

type Counting = { -readonly [Quota in CountedQuota]: number };

/** Accounts that stay in memory between batches: some MiB. */
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
  sessions: 0,
};

/** The account of one namespace. Valid only for the current entry. */
class NamespaceAccount {
  readonly #namespace: string;
  readonly #accounts: Accounts;
  readonly #counts: Counting;
  /** Null until first used, and after a change of the settings. */
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

  /** Raises QUOTA if this much more would exceed the limit; never refuses without growth. */
  requireQuota(quota: CountedQuota, added: number): void {
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

  /** Counts a change: positive = added, negative = removed. */
  count(quota: CountedQuota, change: number): void {
    const used = this.#counts[quota] + change;
    invariant(
      used >= 0,
      "what a namespace has never falls below zero",
      () => `${quota} of ${this.#namespace}: ${used}`,
    );
    this.#counts[quota] = used;
    this.#accounts.changed.add(this);
  }

  /** Counts again as it did earlier in the same entry. */
  restore(usage: NamespaceUsage): void {
    Object.assign(this.#counts, usage);
  }

  /** The caller calls this when the settings have changed. */
  forgetLimits(): void {
    this.#limits = null;
  }
}

/** What the account of one namespace shares with all others. */
interface Accounts {
  /** Accounts whose rows must be written. */
  readonly changed: Set<NamespaceAccount>;
  limitsOf(namespace: string): NamespaceLimits;
}

/** The accounts of a state machine. */
export class NamespaceAccounts {
  readonly #transaction: Transaction;
  readonly #accounts: Accounts;
  readonly #open = new Map<string, NamespaceAccount>();

  /** @param limitsOf the limits of a namespace, by the settings in the transaction */
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

  /** Any limit may have changed. */
  onSettingsChanged(): void {
    for (const account of this.#open.values()) {
      account.forgetLimits();
    }
  }

  /** Writes the rows of all accounts that have changed since the last flush into the transaction. */
  flush(): void {
    for (const { namespace, usage } of this.#accounts.changed) {
      const isEmpty = COUNTED_QUOTAS.every((quota) => usage[quota] === 0);
      this.#transaction.carry(namespaceUsageRow(namespace), isEmpty ? null : encodeUsage(usage));
    }
    this.#accounts.changed.clear();
    if (this.#open.size > ACCOUNTS_KEPT_MAX) {
      this.#open.clear();
    }
  }
}

/** How much the namespace uses, as of the last batch. */
export function readNamespaceUsage(reader: StateReader, namespace: string): NamespaceUsage {
  const bytes = reader.get(namespaceUsageRow(namespace));
  return bytes === undefined ? NOTHING : decodeUsage(bytes);
}

/**
 * Visits the namespaces with any usage, in the order of their names: at most `rowsMax` of them, after the namespace
 * `after`, which an earlier call returned. Returns the last one visited if there may be more, else null.
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

/** Without sessions the row is as before there were any: they are the last quota. */
function encodeUsage(usage: NamespaceUsage): Uint8Array {
  const length = COUNTED_QUOTAS.length - Number(usage.sessions === 0);
  const bytes = new Uint8Array(length * NUMBER_BYTES);
  for (let at = 0; at < length; at++) {
    writeUint53(bytes, at * NUMBER_BYTES, usage[COUNTED_QUOTAS[at] as CountedQuota]);
  }
  return bytes;
}

function decodeUsage(bytes: Uint8Array): NamespaceUsage {
  const fields = new RecordReader(bytes);
  const usage: Counting = { ...NOTHING };
  for (const quota of COUNTED_QUOTAS) {
    if (quota !== "sessions" || bytes.length === COUNTED_QUOTAS.length * NUMBER_BYTES) {
      usage[quota] = fields.uint53();
    }
  }
  fields.end();
  return usage;
}
