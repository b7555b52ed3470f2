/** Bugs in the replicated state machine. */

import type { Mutant } from "./mutant.ts";

export const STATE_MUTANTS: readonly Mutant[] = [
  {
    name: "applied-index-in-its-own-batch",
    pitfall: "P42",
    file: "state/machine.ts",
    find: `    changes.push({ key: PROGRESS_ROW, value: encodeProgress(this.#progress) });
    this.#store.write(changes);`,
    replace: `    this.#store.write(changes);
    this.#store.write([{ key: PROGRESS_ROW, value: encodeProgress(this.#progress) }]);`,
  },
  {
    name: "record-in-a-second-batch",
    pitfall: "P24",
    file: "state/machine.ts",
    find: "    this.#store.write(changes);",
    replace: `    const isRecord = ({ key }: { readonly key: Uint8Array }) => key.length === 1 && key[0] === 0x63;
    this.#store.write(changes.filter((change) => !isRecord(change)));
    if (changes.some(isRecord)) {
      this.#store.write(changes.filter(isRecord));
    }`,
  },
  {
    name: "auto-leave-not-saved",
    pitfall: "P23",
    file: "state/cluster.ts",
    find: "  writer.boolean(configuration.autoLeave);",
    replace: "  writer.boolean(false);",
  },
  {
    name: "outgoing-voters-not-saved",
    pitfall: "P23",
    file: "state/cluster.ts",
    find: "  writeIds(writer, configuration.outgoing);",
    replace: "  writeIds(writer, []);",
  },
  {
    name: "next-learners-not-saved",
    pitfall: "P23",
    file: "state/cluster.ts",
    find: "  writeIds(writer, configuration.learnersNext);",
    replace: "  writeIds(writer, []);",
  },
  {
    name: "map-order-in-apply",
    pitfall: "P44",
    file: "state/transaction.ts",
    find: "    return rows.sort((a, b) => compareBytes(a.key, b.key));",
    replace: "    return rows;",
  },
  {
    name: "clock-in-apply",
    pitfall: "P44",
    file: "state/apply-context.ts",
    find: "    this.wallMs = Math.max(before.wallMs, entry.wallMs);",
    replace: "    this.wallMs = Math.max(before.wallMs, entry.wallMs, Date.now());",
  },
  {
    name: "digest-leaves-out-deletions",
    pitfall: "P44",
    file: "state/transaction.ts",
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
    file: "state/membership.ts",
    find: "  if (slot.incarnation.length === 0) {",
    replace: "  if (slot.incarnation.length === 0 || cluster.configuration.learners.includes(memberId)) {",
  },
  {
    name: "claim-of-a-wiped-voter-accepted",
    pitfall: "P46",
    file: "state/membership.ts",
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
    file: "state/replays.ts",
    find: "if (!stored.payloadHash.every((byte, at) => byte === request.payloadHash[at])) {",
    replace: "if (stored.payloadHash.length !== request.payloadHash.length) {",
  },
  {
    name: "keys-expire-a-moment-early",
    pitfall: "TTL",
    file: "state/keys.ts",
    find: "if (current.deadlineMs === 0 || current.deadlineMs >= context.tickMs) {",
    replace: "if (current.deadlineMs === 0 || current.deadlineMs > context.tickMs) {",
  },
];
