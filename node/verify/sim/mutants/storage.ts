/** Bugs in the data on the disk, and in how a start handles it. */

import type { Mutant } from "./mutant.ts";

export const STORAGE_MUTANTS: readonly Mutant[] = [
  {
    name: "write-acknowledged-before-it-is-synced",
    pitfall: "P2",
    file: "storage/log/log-thread.ts",
    find: `  fdatasyncSync(file);
  if (isNext) {`,
    replace: "  if (isNext) {",
  },
  {
    name: "acknowledged-before-the-mirror",
    pitfall: "P2",
    file: "storage/log/log-thread.ts",
    find: `        crashPoint("log.batch.after");
        writeMirrorSlot(`,
    replace: `        crashPoint("log.batch.after");
        reply({ kind: "written", writeSeq: request.writeSeq, durationMs: performance.now() - started });
        crashPoint("log.ack.after");
        if (started > 0) {
          return;
        }
        writeMirrorSlot(`,
  },
  {
    name: "term-and-vote-by-a-second-write",
    pitfall: "P3",
    file: "storage/log/segment-log-store.ts",
    find: "const record = encodeRecord(next, rows);",
    replace: "const record = encodeRecord({ ...next, term: before.term, vote: before.vote }, rows);",
  },
  {
    name: "segment-acknowledged-before-its-name-is-durable",
    pitfall: "P2",
    file: "storage/log/log-thread.ts",
    find: `    syncDirectory(directory);
    crashPoint("log.segment.after");`,
    replace: `    crashPoint("log.segment.after");`,
  },
  {
    name: "record-read-without-its-checksum",
    pitfall: "P30",
    file: "storage/log/segment.ts",
    find: "if (crc32(record.subarray(CHECKSUM_BYTES)) !== checksum) {",
    replace: "if (length < 0) {",
  },
  {
    name: "record-read-behind-another-one",
    pitfall: "P33",
    file: "storage/log/segment.ts",
    find: " || readUint32(segment, offset + CHAIN_OFFSET) !== before) {",
    replace: " || before < 0) {",
  },
  {
    name: "log-read-over-damage",
    pitfall: "P33",
    file: "storage/log/log-files.ts",
    find: "if (end.offset !== next.offset || end.checksum !== next.checksum) {",
    replace: "if (end.offset > next.offset) {",
  },
  {
    name: "segment-deleted-with-entries-of-the-log",
    pitfall: "P30",
    file: "storage/log/log-files.ts",
    find: "return first < next ? this.#places.of(first).segment : this.#end.number;",
    replace: "return first < next ? this.#places.of(next - 1).segment : this.#end.number;",
  },
  {
    name: "former-log-put-aside-in-a-directory-of-the-former-format",
    pitfall: "P33",
    file: "storage/log/former-log.ts",
    find: "    writeIdentity(directory, identity);",
    replace: "",
  },
  {
    name: "former-log-ignored-beside-a-conversion-that-was-interrupted",
    pitfall: "P33",
    file: "storage/log/former-log.ts",
    find: "const former = existsSync(path) ? await",
    replace: "const former = existsSync(path) && !existsSync(join(directory, LOG_DIRECTORY)) ? await",
  },
  {
    name: "failed-write-tried-again",
    pitfall: "P32",
    file: "storage/log/log-thread.ts",
    find: `function fail(error: unknown): void {
  failed = true;`,
    replace: "function fail(error: unknown): void {",
  },
  {
    name: "failed-thread-heard-again",
    pitfall: "P32",
    file: "storage/thread/store-thread.ts",
    find: "if (this.#failed || isOfNode(reply)) {",
    replace: "if (isOfNode(reply)) {",
  },
  {
    name: "kind-of-a-failure-lost-between-threads",
    pitfall: "P30",
    file: "storage/thread/store-thread.ts",
    find: "this.#onFatal(new StoreError(kind,",
    replace: `this.#onFatal(new StoreError("io",`,
  },
  {
    name: "mirror-ignored",
    pitfall: "P33",
    file: "storage/recovery/startup-recovery-plan.ts",
    find: "if (meta.writeSeq < mirror.writeSeq) {",
    replace: "if (meta.writeSeq < 0) {",
  },
  {
    name: "mirror-judged-by-term",
    pitfall: "P57",
    file: "storage/recovery/startup-recovery-plan.ts",
    find: "if (meta.writeSeq < mirror.writeSeq) {",
    replace: "if (meta.term < mirror.term) {",
  },
  {
    name: "mirror-judged-by-the-last-index",
    pitfall: "P57",
    file: "storage/recovery/startup-recovery-plan.ts",
    find: "if (meta.writeSeq < mirror.writeSeq) {",
    replace: "if (meta.writeSeq < mirror.writeSeq || meta.last < meta.commit + mirror.counter) {",
  },
  {
    name: "holes-in-the-log-unnoticed",
    pitfall: "P33",
    file: "storage/recovery/startup-recovery-plan.ts",
    find: `  requireDense(files, meta);
  requireUnsuspected(`,
    replace: "  requireUnsuspected(",
  },
  {
    name: "no-log-reset-behind-the-state",
    pitfall: "P58",
    file: "storage/recovery/startup-recovery-plan.ts",
    find: "if (isFromSnapshot || (found.isDamaged && appliedTerm <= found.term)) {",
    replace: "if (found.isDamaged && appliedTerm <= found.term) {",
  },
  {
    name: "no-log-reset-after-a-loss",
    pitfall: "P58",
    file: "storage/recovery/startup-recovery-plan.ts",
    find: "if (isFromSnapshot || (found.isDamaged && appliedTerm <= found.term)) {",
    replace: "if (isFromSnapshot) {",
  },
  {
    name: "vote-of-the-log-alone",
    pitfall: "P46",
    file: "storage/recovery/startup-recovery-plan.ts",
    find: `  if (fromLog.term !== fromMirror.term) {
    return fromLog.term > fromMirror.term ? fromLog : fromMirror;
  }`,
    replace: `  if (fromLog.term !== fromMirror.term) {
    return fromLog;
  }`,
  },
  {
    name: "damage-not-in-the-mirror",
    pitfall: "P46",
    file: "storage/member/member-start.ts",
    find: "const marked = mirror.damaged ? mirror : markDamaged(join(directory, MIRROR_FILE), mirror);",
    replace: "const marked = mirror;",
  },
  {
    name: "sole-voter-starts-without-its-data",
    pitfall: "P47",
    file: "storage/recovery/startup-recovery-plan.ts",
    find: "  if (mirror.isSoleVoter) {",
    replace: "  if (mirror.isSoleVoter && mirror.damaged) {",
  },
  {
    name: "commit-not-restored",
    pitfall: "P15",
    file: "storage/member/member-start.ts",
    find: "const commit = Math.max(position.appliedIndex, meta.commit);",
    replace: "const commit = position.appliedIndex;",
  },
  {
    name: "boot-counted-in-memory",
    pitfall: "P34",
    file: "storage/member/member-start.ts",
    find: "const boot = Math.max(meta.boot, stores.mirror.boot) + 1;",
    replace: "const boot = Math.max(meta.boot, stores.mirror.boot);",
  },
  {
    name: "missing-entry-read-as-nothing",
    pitfall: "P30",
    file: "storage/log/segment-log-store.ts",
    find: `      if (!this.#files.has(index)) {
        this.#corrupt(index, "is missing");
      }`,
    replace: `      if (!this.#files.has(index)) {
        return [];
      }`,
  },
  {
    name: "entry-read-without-its-checksum",
    pitfall: "P30",
    file: "storage/log/segment-log-store.ts",
    find: "      this.#check(from + at, row);",
    replace: "",
  },
  {
    name: "replaced-entries-stay-above-the-last",
    pitfall: "P3",
    file: "storage/log/log-files.ts",
    find: "    this.#places.truncate(from);",
    replace: "    this.#places.truncate(Math.max(from, this.#places.next));",
  },
  {
    name: "vote-not-synced-in-the-mirror",
    pitfall: "P1",
    file: "storage/log/segment-log-store.ts",
    find: "const syncMirror = isFirst || hasVoted || next.boot !== before.boot;",
    replace: "const syncMirror = isFirst || next.boot !== before.boot;",
  },
  {
    name: "replacement-placed-before-it-is-whole",
    pitfall: "P28",
    file: "storage/state/state-replacement.ts",
    find: `    invariant(this.#phase === "finished", "a finished state is placed, once", () => this.#phase);`,
    replace: "",
  },
  {
    name: "rows-in-memory-alone-made-durable",
    pitfall: "P27",
    file: "storage/state/write-buffer.ts",
    find: `  sync(done: () => void): void {
    this.#writePending();`,
    replace: "  sync(done: () => void): void {",
  },
  {
    name: "view-without-rows-in-memory",
    pitfall: "P25",
    file: "storage/state/write-buffer.ts",
    find: `  openView(): StateView {
    this.#writePending();`,
    replace: "  openView(): StateView {",
  },
  {
    name: "row-deleted-in-memory-read-from-the-store",
    pitfall: "P44",
    file: "storage/state/write-buffer.ts",
    find: `      if (change !== undefined) {
        return change.value ?? undefined;`,
    replace: `      if (change !== undefined && change.value !== null) {
        return change.value;`,
  },
  {
    name: "rows-of-a-failed-batch-forgotten",
    pitfall: "P32",
    file: "storage/state/write-buffer.ts",
    find: `      this.#store.write(this.#pending.all(), this.#dropped);
      this.#recent = this.#pending.bytes > RECENT_FACTOR * this.#limits.bytesMax ? new ChangedRows() : this.#pending;
      this.#pending = new ChangedRows();`,
    replace: `      const pending = this.#pending;
      this.#pending = new ChangedRows();
      this.#store.write(pending.all(), this.#dropped);
      this.#recent = pending;`,
  },
  {
    name: "range-dropped-with-what-came-later",
    pitfall: "P44",
    file: "storage/state/write-buffer.ts",
    find: "if (this.#dropped.length > 0 && changes.some(({ key }) => this.#isDropped(key))) {",
    replace: "if (changes.length < 0) {",
  },
  {
    name: "state-made-durable-while-it-is-held-back",
    pitfall: "P27",
    file: "replica/apply/apply-loop.ts",
    find: "if (!isDue || isHeld || !this.#context.state.flush()) {",
    replace: "if (!isDue || isHeld) {",
  },
  {
    name: "rows-in-a-gap-not-seen",
    pitfall: "S44",
    file: "storage/state/scan-gaps.ts",
    find: "        this.#divide(key);",
    replace: "",
  },
  {
    name: "rows-read-ahead-outlive-a-write",
    pitfall: "P42",
    file: "storage/state/rocks-state-store.ts",
    find: `    this.#ahead.take();
    this.#updateCaches(changes);`,
    replace: "    this.#updateCaches(changes);",
  },
  {
    name: "table-forgets-what-shares-a-place",
    pitfall: "P42",
    file: "bytes/byte-table.ts",
    find: "if (item !== null && equalBytes(item.key, key)) {",
    replace: "if (item !== null) {",
  },
];
