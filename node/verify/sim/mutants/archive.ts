/**
 * Bugs in the archive: the duty to archive, the continuation of chains, which backups a reader considers whole, and
 * what retention deletes.
 */

import type { Mutant } from "./mutant.ts";

export const ARCHIVE_MUTANTS: readonly Mutant[] = [
  {
    name: "archived-before-it-is-stored",
    pitfall: "BACKUP",
    file: "archive/archiver.ts",
    find: `    const { hash, recordBytes } = await putSegment(store, header, segmentEntries(segment), keyRing);
    const chainIndex = this.#tail?.chainIndex ?? 0;`,
    replace: `    const chainIndex = this.#tail?.chainIndex ?? 0;
    const early = { index: header.lastIndex, term: header.lastTerm, revision, wallMs, id: header.id };
    this.#tail = { ...early, hash: new Uint8Array(32), chainIndex };
    const { hash, recordBytes } = await putSegment(store, header, segmentEntries(segment), keyRing);`,
  },
  {
    name: "failed-segment-not-written-again",
    pitfall: "BACKUP",
    file: "archive/archiver.ts",
    find: "      this.#segment ??= this.#draft.take(",
    replace: "      this.#segment = this.#draft.take(",
  },
  {
    name: "archive-of-another-log-continued",
    pitfall: "BACKUP",
    file: "archive/archiver.ts",
    find: "    if (term !== tail.term) {",
    replace: "    if (term === null) {",
  },
  {
    name: "archive-ahead-of-the-member-taken-for-broken",
    pitfall: "BACKUP",
    file: "archive/archiver.ts",
    find: "    if (tail.index > backups.progress.appliedIndex) {",
    replace: "    if (tail.index > Number.MAX_SAFE_INTEGER) {",
  },
  {
    name: "broken-chain-goes-on",
    pitfall: "BACKUP",
    file: "archive/archiver.ts",
    find: `      if (rows === null) {
        this.#break(`,
    replace: `      if (rows === null) {
        this.#draft.add(backups.entries(backups.firstIndex, 1) ?? []);
        continue;
        this.#break(`,
  },
  {
    name: "broken-chain-not-said",
    pitfall: "BACKUP",
    file: "archive/archiver.ts",
    find: "    this.#draft.clear();\n    this.#logBroken(reason, index);",
    replace: "    this.#draft.clear();\n    void [reason, index];",
  },
  {
    name: "duty-kept-for-ever",
    pitfall: "BACKUP",
    file: "archive/archive-lease.ts",
    find: "    return this.#clock.monotonicMs() < this.#validUntilMs;",
    replace: "    return this.#validUntilMs > Number.NEGATIVE_INFINITY;",
  },
  {
    name: "duty-of-a-former-term",
    pitfall: "BACKUP",
    file: "replica/leader/archiver-assigner.ts",
    find: "    if (term !== this.#term) {",
    replace: "    if (this.#term === 0) {",
  },
  {
    name: "archive-forgotten-by-the-leader",
    pitfall: "BACKUP",
    file: "replica/leader/archiver-assigner.ts",
    find: "    if ((memberId === this.#archiverId && report.isArchiving) || report.index > this.#archive.index) {",
    replace: "    if (memberId === this.#archiverId || report.index > this.#archive.index) {",
  },
  {
    name: "compaction-waits-for-the-archive",
    pitfall: "BACKUP",
    file: "replica/context/compaction.ts",
    find: "const needed = Math.max(neededFrom - 1, this.#lastBehind(neededBytes));",
    replace: "const needed = neededFrom - 1;",
  },
  {
    name: "compaction-ignores-the-archive",
    pitfall: "BACKUP",
    file: "replica/snapshots/snapshots.ts",
    find: "let needed = Math.min(this.#outgoing.neededFrom, this.backups.retainedFrom);",
    replace: "let needed = this.#outgoing.neededFrom;",
  },
  {
    name: "log-not-kept-for-the-first-snapshot",
    pitfall: "BACKUP",
    file: "archive/archiver.ts",
    find: "    if (this.#beginsFrom !== null) {",
    replace: "    if (this.#beginsFrom !== null && this.#isStopped) {",
  },
  {
    name: "gap-before-a-snapshot-left-open",
    pitfall: "BACKUP",
    file: "archive/chain-tail.ts",
    find: "    if (last !== undefined && (last.segments.length > 0 || !canFollow(chain.end.index))) {",
    replace: "    if (last !== undefined) {",
  },
  {
    name: "gap-before-a-snapshot-not-said",
    pitfall: "BACKUP",
    file: "archive/archiver.ts",
    find: "    if (found.missing !== undefined) {",
    replace: "    if (found.missing !== undefined && found.tail === null) {",
  },
  {
    name: "lost-segment-not-noticed",
    pitfall: "BACKUP",
    file: "backup/src/chain/chain-reader.ts",
    find: "  if (header.firstIndex > position.index + 1) {",
    replace: "  if (header.firstIndex > position.index + 1_000_000) {",
  },
  {
    name: "replaced-segment-not-noticed",
    pitfall: "BACKUP",
    file: "backup/src/chain/chain-reader.ts",
    find: "  if (header.previousId === position.id && !Buffer.from(header.previousHash).equals(position.hash)) {",
    replace: "  if (header.previousId === position.id && header.previousHash.length !== position.hash.length) {",
  },
  {
    name: "trailer-not-checked",
    pitfall: "BACKUP",
    file: "backup/src/format/object-reader.ts",
    find: "    if (!hash.equals(cursor.bytes(HASH_BYTES))) {",
    replace: "    if (hash.length !== cursor.bytes(HASH_BYTES).length) {",
  },
  {
    name: "counts-not-checked",
    pitfall: "BACKUP",
    file: "backup/src/format/object-reader.ts",
    find: "    if (records !== this.#records || recordBytes !== this.#recordBytes || frames !== this.#frames) {",
    replace: "    if (records + recordBytes + frames < 0) {",
  },
  {
    name: "fork-not-noticed",
    pitfall: "BACKUP",
    file: "backup/src/chain/catalog.ts",
    find: "    if (segments[position - 1]?.firstIndex === firstIndex) {",
    replace: "    if (segments[position - 1]?.name === name) {",
  },
  {
    name: "shorter-fork-followed",
    pitfall: "BACKUP",
    file: "backup/src/chain/chain.ts",
    find: "    (best, branch) => (best === undefined || branch.reach > best.reach ? branch : best),",
    replace: "    (best, branch) => (best === undefined || branch.reach < best.reach ? branch : best),",
  },
  {
    name: "retention-keeps-half-of-the-snapshots",
    pitfall: "BACKUP",
    file: "backup/src/chain/retention.ts",
    find: "  const byCount = Math.max(0, usable.length - keepSnapshots);",
    replace: "  const byCount = Math.max(0, usable.length - Math.ceil(keepSnapshots / 2));",
  },
  {
    name: "retention-deletes-the-last-snapshot",
    pitfall: "BACKUP",
    file: "backup/src/chain/retention.ts",
    find: "    ...catalog.snapshots.filter((snapshot) => snapshot.index < oldestKept.index),",
    replace: "    ...catalog.snapshots.filter((snapshot) => snapshot.index <= oldestKept.index),",
  },
  {
    name: "retention-deletes-what-the-last-snapshot-needs",
    pitfall: "BACKUP",
    file: "backup/src/chain/retention.ts",
    find: "    ...catalog.segments.filter((segment) => segment.lastIndex <= oldestKept.index),",
    replace: "    ...catalog.segments.filter((segment) => segment.firstIndex <= oldestKept.index),",
  },
  {
    name: "retention-deletes-the-oldest-first",
    pitfall: "BACKUP",
    file: "backup/src/chain/retention.ts",
    find: "  return objects.toSorted((a, b) => lastIndexOf(b) - lastIndexOf(a) || rankOf(a) - rankOf(b));",
    replace: "  return objects.toSorted((a, b) => lastIndexOf(a) - lastIndexOf(b) || rankOf(a) - rankOf(b));",
  },
  {
    name: "digest-of-the-rebuilt-state-not-compared",
    pitfall: "BACKUP",
    file: "rebuild/rebuild.ts",
    find: "    if (own !== digest) {",
    replace: "    if (own !== digest && digest < 0) {",
  },
  {
    name: "tokens-not-jumped",
    pitfall: "BACKUP",
    file: "state/cluster/succession.ts",
    find: "  context.skipRevisions(revisionJump);\n",
    replace: "",
  },
  {
    name: "holds-survive-a-restore",
    pitfall: "BACKUP",
    file: "state/cluster/succession.ts",
    find: "  resetLocks(context);\n",
    replace: "",
  },
  {
    name: "history-survives-a-restore",
    pitfall: "BACKUP",
    file: "state/cluster/succession.ts",
    find: "  applyCompactHistory(context, context);\n",
    replace: "",
  },
];
