/** Bugs in the deletion of namespaces. */

import type { Mutant } from "./mutant.ts";

const DELETION = "state/namespaces/namespace-deletion.ts";
const NAMESPACES = "state/core/namespaces.ts";
const HISTORY = "state/core/history.ts";
const SHARES = "state/core/history-shares.ts";

export const NAMESPACE_MUTANTS: readonly Mutant[] = [
  {
    name: "deleted-namespace-still-found",
    pitfall: "S19",
    file: NAMESPACES,
    find: "  if (bytes?.length === UNMARKED_BYTES) {\n    return null;",
    replace: "  if (bytes !== undefined) {\n    return null;",
  },
  {
    name: "log-of-a-deleted-namespace-still-found",
    pitfall: "S19",
    file: "state/event-logs/event-logs.ts",
    find: "  if (log === undefined || namespaceRefusalOf(reader, log.namespace) !== null) {",
    replace: "  if (log === undefined) {",
  },
  {
    name: "hold-in-a-deleted-namespace-still-guards",
    pitfall: "S27",
    file: "state/locks/lock-rows.ts",
    find: "  return namespaceRefusalOf(reader, lockName.namespace) === null ? readLock(reader, lockName) : undefined;",
    replace: "  return readLock(reader, lockName);",
  },
  {
    name: "lock-of-a-deleted-namespace-granted",
    pitfall: "S24",
    file: "state/locks/lock-grants.ts",
    find: "      namespaceRefusalOf(context.transaction, lock.namespace) ??\n",
    replace: "",
  },
  {
    name: "retry-gets-a-hold-in-a-deleted-namespace",
    pitfall: "S24",
    file: "state/locks/locks.ts",
    find: "  const lock = findLock(context.transaction, acquisition.lock);",
    replace: "  const lock = readLock(context.transaction, acquisition.lock);",
  },
  {
    name: "erasure-ends-after-one-step",
    pitfall: "S49",
    file: "state/core/namespaced-rows.ts",
    find: "      return withNul(row.key);",
    replace: "      return null;",
  },
  {
    name: "erasure-forgets-the-bytes-that-it-has-read",
    pitfall: "S44",
    file: "state/core/namespaced-rows.ts",
    find: "    budget.bytes -= row.value.length;\n",
    replace: "",
  },
  {
    name: "erased-key-keeps-its-deadline",
    pitfall: "S49",
    file: "state/keys/keys.ts",
    find: `  context.accounts.of(namespace).count("keys", -1);
  clearDeadline(context, namespace, stored.key, stored.deadlineMs);`,
    replace: '  context.accounts.of(namespace).count("keys", -1);',
  },
  {
    name: "deletion-does-not-wait-for-events",
    pitfall: "S49",
    file: DELETION,
    find: "  return COUNTED_QUOTAS.every((quota) => usage[quota] === 0) && !hasErasures(reader, deleteRevision);",
    replace: "  return !hasErasures(reader, deleteRevision);",
  },
  {
    name: "deletion-does-not-wait-for-pages",
    pitfall: "S32",
    file: DELETION,
    find: "  return COUNTED_QUOTAS.every((quota) => usage[quota] === 0) && !hasErasures(reader, deleteRevision);",
    replace: "  return COUNTED_QUOTAS.every((quota) => usage[quota] === 0) && deleteRevision > 0;",
  },
  {
    name: "deletion-waits-for-pages-of-others",
    pitfall: "S44",
    file: DELETION,
    find: "!hasErasures(reader, deleteRevision);",
    replace: "!hasErasures(reader, deleteRevision * 2);",
  },
  {
    name: "deletion-held-up-by-another",
    pitfall: "S44",
    file: DELETION,
    find: "  const next = erasures.find(\n",
    replace: "  const next = erasures.slice(0, 1).find(\n",
  },
  {
    name: "limits-of-a-deleted-namespace-stay",
    pitfall: "S49",
    file: DELETION,
    find: "  unsetNamespaceLimits(context, namespace);\n",
    replace: "",
  },
  {
    name: "deleted-namespace-still-counted",
    pitfall: "S49",
    file: DELETION,
    find: "  context.countData(-namespace.length);\n",
    replace: "",
  },
  {
    name: "watch-starts-before-a-deletion",
    pitfall: "S37",
    file: DELETION,
    find: "  closeHistory(context, namespace);\n",
    replace: "",
  },
  {
    name: "watch-starts-between-a-deletion-and-its-end",
    pitfall: "S37",
    file: HISTORY,
    find: "  if (next === null) {\n    // What expired",
    replace: "  if (next === -1) {\n    // What expired",
  },
  {
    name: "share-without-rows-never-forgotten",
    pitfall: "S44",
    file: SHARES,
    find: "    if (share.rows === 0) {\n      this.#empty.add(namespace);\n    }\n  }\n\n  /** The namespace with the most",
    replace: "  }\n\n  /** The namespace with the most",
  },
  {
    name: "watch-goes-on-without-its-namespace",
    pitfall: "S37",
    file: "api/methods/watch-methods.ts",
    find: "      requireNamespace(state, required.namespace);\n",
    replace: "",
  },
  {
    name: "erasure-without-pauses",
    pitfall: "S44",
    file: "replica/context/maintenance.ts",
    find: "      if (tickMs < this.#namespacesMs + namespacePauseMs) {",
    replace: "      if (tickMs < 0 + namespacePauseMs * 0) {",
  },
];
