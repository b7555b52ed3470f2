/** Bugs in event logs. */

import type { Mutant } from "./mutant.ts";

export const EVENT_LOG_MUTANTS: readonly Mutant[] = [
  {
    name: "sequence-checked-before-duplicates",
    pitfall: "S1",
    file: "state/event-logs.ts",
    find: "  const found = findStored(context, log, command);",
    replace: "  requireExpectedSequence(log, command);\n  const found = findStored(context, log, command);",
  },
  {
    name: "guard-asked-of-a-retry-of-an-append",
    pitfall: "S1",
    file: "state/event-logs.ts",
    find: "  if (positions.length > 0) {\n    checkGuard(",
    replace: "  if (positions.length >= 0) {\n    checkGuard(",
  },
  {
    name: "rejected-append-burns-its-key",
    pitfall: "S2",
    file: "state/event-logs.ts",
    find: "    requireExpectedSequence(log, command);\n  }",
    replace: `    const { idempotencyKey, isBatch } = command;
    if (idempotencyKey !== null) {
      rememberKeys(context, log, { idempotencyKey, isBatch, count: payloads.length }, positions, log.lastSequence + 1);
    }
    requireExpectedSequence(log, command);
  }`,
  },
  {
    name: "keys-of-events-forgotten-by-a-new-leader",
    pitfall: "S3",
    file: "state/duplicates.ts",
    find: "  if (windowMs > 0) {",
    replace: `  const { transaction } = context;
  const isNew = Reflect.get(transaction, "served") === undefined;
  Reflect.set(transaction, "served", true);
  if (windowMs > 0 && !isNew) {`,
  },
  {
    name: "duplicate-refreshes-its-window",
    pitfall: "S4",
    file: "state/duplicates.ts",
    find: "      found[0] = findOne(context.transaction, log, keys.idempotencyKey, isStored);",
    replace: `      found[0] = findOne(context.transaction, log, keys.idempotencyKey, isStored);
      if (found[0] !== undefined) {
        rememberKeys(context, log, keys, [0], found[0]);
      }`,
  },
  {
    name: "window-of-keys-ends-early",
    pitfall: "S4",
    file: "state/duplicates.ts",
    find: "  return tickMs > storedMs + windowMs;",
    replace: "  return tickMs >= storedMs + windowMs;",
  },
  {
    name: "window-of-keys-by-wall-clock",
    pitfall: "S4",
    file: "state/duplicates.ts",
    find: "!isOver(tickMs, windowMs, context.tickMs);",
    replace: "!isOver(tickMs, windowMs, context.tickMs + (context.wallMs - 1_750_000_000_250));",
  },
  {
    name: "key-known-to-one-member-alone",
    pitfall: "S5",
    file: "state/duplicates.ts",
    find: "  if (windowMs > 0) {",
    replace: "  if (windowMs > 0 && context.origin.memberId <= 1) {",
  },
  {
    name: "some-duplicates-make-a-batch-new",
    pitfall: "S6",
    file: "state/event-logs.ts",
    find: ".filter((position) => found[position] === undefined);",
    replace: ".filter(() => found.includes(undefined));",
  },
  {
    name: "some-duplicates-make-a-batch-old",
    pitfall: "S6",
    file: "state/event-logs.ts",
    find: ".filter((position) => found[position] === undefined);",
    replace: ".filter(() => found.every((sequence) => sequence === undefined));",
  },
  {
    name: "last-sequence-of-a-batch-is-that-of-its-last-event",
    pitfall: "S6",
    file: "state/event-logs.ts",
    find: "    lastSequence: sequences.reduce((greatest, sequence) => Math.max(greatest, sequence)),",
    replace: "    lastSequence: sequences.at(-1) as number,",
  },
  {
    name: "keys-of-batches-in-a-scope-of-their-own",
    pitfall: "S6",
    file: "state/duplicates.ts",
    find: "  return later(own, ofBatch);",
    replace: "  return ofBatch === undefined ? own : undefined;",
  },
  {
    name: "key-taken-again-by-another-payload",
    pitfall: "S7",
    file: "state/event-logs.ts",
    find: "  const found = findStored(context, log, command);",
    replace: `  const found = findStored(context, log, command).map((sequence, at) => {
    const [event] = readEvents(context.transaction, log, sequence ?? 0, { eventsMax: 1, bytesMax: 1 });
    return event?.payload.toHex() === payloads[at]?.toHex() ? sequence : undefined;
  });`,
  },
  {
    name: "every-trailing-delimiter-ignored",
    pitfall: "S8",
    file: "api/http/event-delimiter.ts",
    find: "  } while (from < bytes.length);",
    replace: `  } while (from < bytes.length);
  while (events.length > 1 && events.at(-1)?.length === 0) {
    events.pop();
  }`,
  },
  {
    name: "delimiter-decoded-as-text",
    pitfall: "S8",
    file: "api/http/event-delimiter.ts",
    find: "    return bytes;",
    replace: '    return Buffer.from(bytes.toString("utf8"));',
  },
  {
    name: "expected-sequence-rounded",
    pitfall: "S9",
    file: "api/http/append-headers.ts",
    find: "new RegExp(DECIMAL).test(text) ? BigInt(text) : null",
    replace: "new RegExp(DECIMAL).test(text) ? BigInt(Number(text)) : null",
  },
  {
    name: "expected-sequence-compared-in-32-bits",
    pitfall: "S9",
    file: "state/event-logs.ts",
    find: "expectedSequence !== BigInt(log.lastSequence)",
    replace: "BigInt.asUintN(32, expectedSequence) !== BigInt(log.lastSequence)",
  },
  {
    name: "log-visible-by-part-of-a-namespace",
    pitfall: "S40",
    file: "state/event-logs.ts",
    find: "!includesNamespace(namespaces, log.namespace)",
    replace: '!namespaces.some((one) => one === "*" || one.startsWith(log.namespace ?? ""))',
  },
  {
    name: "guard-of-an-append-not-checked",
    pitfall: "P53",
    file: "state/event-logs.ts",
    find: 'checkGuard(context.transaction, command.guard?.namespace ?? "", command.guard);',
    replace: 'checkGuard(context.transaction, command.guard?.namespace ?? "", undefined);',
  },
  {
    name: "events-removed-early",
    pitfall: "S21",
    file: "state/log-retention.ts",
    find: "    const isTooOld = tickMs > chunk.tickMs + ageMs;",
    replace: "    const isTooOld = tickMs >= chunk.tickMs + ageMs;",
  },
  {
    name: "empty-log-begins-anew",
    pitfall: "S9",
    file: "state/event-logs.ts",
    find: "  if (expectedSequence !== undefined && expectedSequence !== BigInt(log.lastSequence)) {",
    replace:
      "  const last = log.firstSequence > log.lastSequence ? 0 : log.lastSequence;\n  if (expectedSequence !== undefined && expectedSequence !== BigInt(last)) {",
  },
  {
    name: "deleted-logs-not-erased",
    pitfall: "S44",
    file: "replica/maintenance.ts",
    find: "  return logErasures > 0 ?",
    replace: "  return logErasures > 1_000_000 ?",
  },
  {
    name: "erasure-begins-anew-with-each-step",
    pitfall: "S44",
    file: "state/log-retention.ts",
    find: "nextAfter(events, begins.events)",
    replace: "nextAfter([], begins.events)",
  },
  {
    name: "events-that-stay-are-read-for-nothing",
    pitfall: "S44",
    file: "state/log-retention.ts",
    find: "    left.bytes -= rowBytes;\n    const isTooOld",
    replace: "    const isTooOld",
  },
  {
    name: "keys-of-events-never-forgotten",
    pitfall: "S21",
    file: "replica/maintenance.ts",
    find: "  if (logTimers > 0 && dueMs > 0 && hasDueDuplicates(state, dueMs)) {",
    replace: "  if (logTimers > 1_000_000 && dueMs > 0 && hasDueDuplicates(state, dueMs)) {",
  },
  {
    name: "follower-of-a-log-not-checked-again",
    pitfall: "S39",
    file: "watch/event-hub.ts",
    find: "      following.follower.recheck(log);\n",
    replace: "",
  },
  {
    name: "slow-follower-of-a-log-sent-more",
    pitfall: "S38",
    file: "watch/event-hub.ts",
    find: "    if (this.#all.has(following) && !following.isSending) {",
    replace: "    if (this.#all.has(following)) {",
  },
];
