/** Bugs in watches of keys and of locks, and in the history of changes that they read. */

import type { Mutant } from "./mutant.ts";

export const WATCH_MUTANTS: readonly Mutant[] = [
  {
    name: "history-in-a-second-batch",
    pitfall: "S37",
    file: "state/machine.ts",
    find: "    this.#store.write(changes, this.#answerLedger.takeDropped());",
    replace: `    const isHistory = ({ key }: { readonly key: Uint8Array }) => key[0] === 0x77;
    this.#store.write(changes.filter((change) => !isHistory(change)), this.#answerLedger.takeDropped());
    if (changes.some(isHistory)) {
      this.#store.write(changes.filter(isHistory));
    }`,
  },
  {
    name: "watch-splits-a-revision",
    pitfall: "S37",
    file: "watch/watch-hub.ts",
    find: "        if (!concerns(change, request)) {",
    replace: "        if (!concerns(change, request) || left.message <= 0) {",
  },
  {
    name: "watch-skips-what-it-resumes-at",
    pitfall: "S37",
    file: "watch/watch-hub.ts",
    find: "    const next = startRevision === 0 ? replica.revision + 1 : startRevision;",
    replace: "    const next = startRevision === 0 ? replica.revision + 1 : startRevision + 1;",
  },
  {
    name: "watch-from-the-past-is-taken-for-live",
    pitfall: "S37",
    file: "watch/watch-hub.ts",
    find: "new Watcher(number, request, subscriber, next, next > publishedRevision,",
    replace: "new Watcher(number, request, subscriber, next, next >= publishedRevision,",
  },
  {
    name: "changes-behind-a-gap-are-kept-before-it",
    pitfall: "S37",
    file: "watch/watch-hub.ts",
    find: `    if (bounds.completeRevision > source.publishedRevision + 1) {
      this.#skipMissing(source, bounds);
    }
    // A skip replaces both.
    const { recent, publishedRevision } = source;`,
    replace: `    const { recent } = source;
    if (bounds.completeRevision > source.publishedRevision + 1) {
      this.#skipMissing(source, bounds);
    }
    const { publishedRevision } = source;`,
  },
  {
    name: "progress-overtakes-changes",
    pitfall: "S37",
    file: "watch/watch-hub.ts",
    find: "    const revision = watcher.sentRevision(source.publishedRevision);",
    replace: "    const revision = source.publishedRevision;",
  },
  {
    name: "compaction-not-told",
    pitfall: "S37",
    file: "watch/watch-hub.ts",
    find: "&& next < completeFrom(state, request.namespace)) {",
    replace: "&& next === 0) {",
  },
  {
    name: "gap-of-a-snapshot-not-told",
    pitfall: "S37",
    file: "watch/watch-hub.ts",
    find: "        watcher.fallBehind(from);",
    replace: "        watcher.fallBehind(completeFrom(state, watcher.request.namespace));",
  },
  {
    name: "compact-revision-one-too-low",
    pitfall: "S37",
    file: "state/core/history.ts",
    find: "    compactRevision = Math.max(compactRevision, row.revision + 1);",
    replace: "    compactRevision = Math.max(compactRevision, row.revision);",
  },
  {
    name: "history-of-the-largest-namespace-cut-untold",
    pitfall: "S37",
    file: "state/core/history.ts",
    find: "  shares.cut(namespace, compactRevision, next ?? context.revision + 1);",
    replace: "  shares.cut(namespace, share.compactRevision, next ?? context.revision + 1);",
  },
  {
    name: "largest-share-of-the-history-by-the-order-in-memory",
    pitfall: "P42",
    file: "state/core/history-shares.ts",
    find: "(share[by] === found?.share[by] && namespace < found.namespace)",
    replace: "(share[by] === found?.share[by] && namespace === found.namespace)",
  },
  {
    name: "empty-share-forgets-what-is-missing",
    pitfall: "S37",
    file: "state/core/history-shares.ts",
    find: "      if (this.compactRevisionOf(namespace) <= compactRevision) {",
    replace: "      if (this.compactRevisionOf(namespace) >= 0) {",
  },
  {
    name: "share-not-asked-while-compacted-rows-are-left",
    pitfall: "S37",
    file: "state/core/history-ledger.ts",
    find: "  return bounds.completeRevision > from ? Math",
    replace: "  return bounds.completeRevision > bounds.compactRevision ? Math",
  },
  {
    name: "gap-of-a-namespace-in-a-snapshot-not-told",
    pitfall: "S37",
    file: "watch/watch-hub.ts",
    find: "from < complete)",
    replace: "from < keptFrom)",
  },
  {
    name: "bounds-of-the-history-written-once",
    pitfall: "P42",
    file: "state/core/history-ledger.ts",
    find: "    this.#addedBytes += bytes;\n    this.#isChanged = true;",
    replace: "    this.#addedBytes += bytes;\n    this.#isChanged = bounds.oldestRevision === revision;",
  },
  {
    name: "slow-watcher-loses-changes",
    pitfall: "S38",
    file: "watch/watch-hub.ts",
    find: "    watcher.onRead(readTo, readTo === publishedRevision);",
    replace: "    watcher.onRead(publishedRevision, true);",
  },
  {
    name: "change-during-a-message-forgotten",
    pitfall: "S38",
    file: "watch/watch-hub.ts",
    find: `        if (watcher.isLive) {
          watcher.fallBehind(revision);`,
    replace: `        if (watcher.isLive && !watcher.isSending) {
          watcher.fallBehind(revision);`,
  },
  {
    name: "watch-goes-on-too-far",
    pitfall: "S47",
    file: "watch/watch-hub.ts",
    find: '    const details = new Map([["resume_revision", String(revision + 1)]]);',
    replace: '    const details = new Map([["resume_revision", String(revision + 2)]]);',
  },
  {
    name: "expiry-not-in-the-history",
    pitfall: "S37",
    file: "state/keys/keys.ts",
    find: '  recordChanges(context, revision, [{ about: "key", kind, namespace, current, previous: stored }]);',
    replace: `  if (kind === "delete") {
    recordChanges(context, revision, [{ about: "key", kind, namespace, current, previous: stored }]);
  }`,
  },
  {
    name: "release-told-after-whom-it-lets-in",
    pitfall: "S37",
    file: "state/locks/lock-grants.ts",
    find: `  const revision = context.nextRevision();
  const changes = holds`,
    replace: `  if (reason === "normal") {
    grantWaiting(context, lock);
  }
  const revision = context.nextRevision();
  const changes = holds`,
  },
  {
    name: "upgrade-told-before-what-it-ends",
    pitfall: "S37",
    file: "state/locks/lock-grants.ts",
    find: '[released, changeOf(lock, hold, "acquired", "upgraded")]',
    replace: '[changeOf(lock, hold, "acquired", "upgraded"), released]',
  },
  {
    name: "one-of-several-ended-holds-told",
    pitfall: "S37",
    file: "state/locks/lock-grants.ts",
    find: '  const changes = holds.map((hold) => changeOf(lock, hold, "released", reason));',
    replace: '  const changes = holds.slice(0, 1).map((hold) => changeOf(lock, hold, "released", reason));',
  },
  {
    name: "change-told-of-the-twin-of-a-lock",
    pitfall: "S37",
    file: "state/core/changes.ts",
    find: "rw: isReadWrite(claim), name, owner",
    replace: 'rw: claim.mode === "write", name, owner',
  },
  {
    name: "watchers-of-locks-not-woken",
    pitfall: "S37",
    file: "watch/watch-hub.ts",
    find: "      this.#indexes[change.about].visit(",
    replace: "      this.#indexes.key.visit(",
  },
  {
    name: "watch-of-one-key-gets-longer-ones",
    pitfall: "S37",
    file: "watch/watch-hub.ts",
    find: "(!isExact || name.length === prefix.length)",
    replace: "(!isExact || name.length >= prefix.length)",
  },
];
