/** Bugs in the replicated state machine. */

import type { Mutant } from "./mutant.ts";

export const STATE_MUTANTS: readonly Mutant[] = [
  {
    name: "applied-index-in-its-own-batch",
    pitfall: "P42",
    file: "state/machine.ts",
    find: `    changes.push({ key: PROGRESS_ROW, value: encodeProgress(progress) });
    this.#store.write(changes, this.#deduplication.takeDropped());`,
    replace: `    this.#store.write(changes, this.#deduplication.takeDropped());
    this.#store.write([{ key: PROGRESS_ROW, value: encodeProgress(progress) }]);`,
  },
  {
    name: "record-in-a-second-batch",
    pitfall: "P24",
    file: "state/machine.ts",
    find: "    this.#store.write(changes, this.#deduplication.takeDropped());",
    replace: `    const isRecord = ({ key }: { readonly key: Uint8Array }) => key.length === 1 && key[0] === 0x63;
    this.#store.write(changes.filter((change) => !isRecord(change)), this.#deduplication.takeDropped());
    if (changes.some(isRecord)) {
      this.#store.write(changes.filter(isRecord));
    }`,
  },
  {
    name: "auto-leave-not-saved",
    pitfall: "P23",
    file: "state/core/cluster.ts",
    find: "  writer.boolean(configuration.autoLeave);",
    replace: "  writer.boolean(false);",
  },
  {
    name: "outgoing-voters-not-saved",
    pitfall: "P23",
    file: "state/core/cluster.ts",
    find: "  writeIds(writer, configuration.outgoing);",
    replace: "  writeIds(writer, []);",
  },
  {
    name: "next-learners-not-saved",
    pitfall: "P23",
    file: "state/core/cluster.ts",
    find: "  writeIds(writer, configuration.learnersNext);",
    replace: "  writeIds(writer, []);",
  },
  {
    name: "map-order-in-apply",
    pitfall: "P44",
    file: "state/core/merged-scan.ts",
    find: "  return rows.sort((a, b) => compareBytes(a.key, b.key));",
    replace: "  return rows;",
  },
  {
    name: "clock-in-apply",
    pitfall: "P44",
    file: "state/core/apply-context.ts",
    find: "    this.#wallMs = Math.max(this.#wallMs, entryWallMs(row));",
    replace: "    this.#wallMs = Math.max(this.#wallMs, entryWallMs(row), Date.now());",
  },
  {
    name: "digest-leaves-out-deletions",
    pitfall: "P44",
    file: "state/core/transaction.ts",
    find: "    running = this.#digest(running, change.key);",
    replace: "    running = change.value === null ? this.#running : this.#digest(running, change.key);",
  },
  {
    name: "digests-not-compared",
    pitfall: "P44",
    file: "state/machine.ts",
    find: "    if (own !== undefined && own !== digest) {",
    replace: "    if (own !== undefined && own !== digest && index < 0) {",
  },
  {
    name: "claim-overwrites",
    pitfall: "P61",
    file: "state/cluster/membership.ts",
    find: "  if (slot.incarnation.length === 0) {",
    replace: "  if (slot.incarnation.length === 0 || cluster.configuration.learners.includes(memberId)) {",
  },
  {
    name: "claim-of-a-wiped-voter-accepted",
    pitfall: "P46",
    file: "state/cluster/membership.ts",
    find: 'verdict: isOwn && isLearner ? "accepted" : "slot-taken"',
    replace: 'verdict: isOwn || !isLearner ? "accepted" : "slot-taken"',
  },
  {
    name: "second-founding-applied",
    pitfall: "P47",
    file: "raft/configuration.ts",
    find: 'return isFounded ? "not-founded" : { ...NO_CONFIGURATION, index, voters: [index] };',
    replace: "return { ...NO_CONFIGURATION, index, voters: [index] };",
  },
  {
    name: "change-without-its-expected-index",
    pitfall: "P16",
    file: "raft/configuration.ts",
    find: "if (expectIndex !== 0 && expectIndex !== before.index) {",
    replace: "if (expectIndex > before.index) {",
  },
  {
    name: "replay-of-another-payload",
    pitfall: "P56",
    file: "state/replay/request-deduplication.ts",
    find: "if (!equalBytes(stored.payloadHash, request.payloadHash)) {",
    replace: "if (stored.payloadHash.length !== request.payloadHash.length) {",
  },
  {
    name: "filter-forgets-what-comes-while-it-is-made",
    pitfall: "S13",
    file: "state/core/deduplication-ledger.ts",
    find: "    addTo(generation, key, slot.low, slot.high);",
    replace: `    if (generation.isComplete) {
      addTo(generation, key, slot.low, slot.high);
    }`,
  },
  {
    name: "generation-of-answers-dropped-too-early",
    pitfall: "S13",
    file: "state/core/deduplication-ledger.ts",
    find: "  return lastTickOf(generation, windowMs) < tickMs - windowMs;",
    replace: "  return lastTickOf(generation - 1, windowMs) < tickMs - windowMs;",
  },
  {
    name: "drop-leaves-the-totals",
    pitfall: "S13",
    file: "state/core/deduplication-ledger.ts",
    find: "      generation.count = 0;\n      this.#changed.set(generation.number, generation);",
    replace: "      this.#changed.delete(generation.number);",
  },
  {
    name: "drop-forgets-the-rows",
    pitfall: "S13",
    file: "state/core/deduplication-ledger.ts",
    find: "      this.#dropped.push(answerRange(first.number, last.number));",
    replace: "      this.#dropped.push(answerRange(last.number, last.number));",
  },
  {
    name: "requests-told-apart-by-kind-alone",
    pitfall: "P56",
    file: "state/command.ts",
    find: "sha256(payload.subarray(hashOffset));",
    replace: "sha256(payload.subarray(hashOffset, hashOffset + HASH_BYTES));",
  },
  {
    name: "requests-told-apart-by-who-asks",
    pitfall: "P56",
    file: "state/command.ts",
    find: "sha256(payload.subarray(hashOffset));",
    replace: "sha256(payload);",
  },
  {
    name: "replay-with-the-value-of-now",
    pitfall: "P56",
    file: "state/restored-values.ts",
    find: "return current?.modRevision === modRevision ?",
    replace: "return current !== undefined ?",
  },
  {
    name: "keys-expire-a-moment-early",
    pitfall: "TTL",
    file: "state/keys/keys.ts",
    find: "if (current.deadlineMs === 0 || current.deadlineMs >= context.tickMs) {",
    replace: "if (current.deadlineMs === 0 || current.deadlineMs > context.tickMs) {",
  },
  {
    name: "deleted-key-still-counted",
    pitfall: "S49",
    file: "state/keys/keys.ts",
    find: `  context.accounts.of(namespace).count("keys", -1);`,
    replace: "",
  },
  {
    name: "limits-from-before-the-settings-changed",
    pitfall: "S49",
    file: "state/core/settings.ts",
    find: "  context.accounts.onSettingsChanged();",
    replace: "",
  },
  {
    name: "quota-passed-by-what-is-added",
    pitfall: "S49",
    file: "state/core/namespace-accounts.ts",
    find: "    if (used + added > limit) {",
    replace: "    if (used > limit) {",
  },
];
