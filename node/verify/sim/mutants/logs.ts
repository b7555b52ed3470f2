/** Bugs in event logs. */

import type { Mutant } from "./mutant.ts";

export const EVENT_LOG_MUTANTS: readonly Mutant[] = [
  {
    name: "sequence-checked-before-duplicates",
    pitfall: "S1",
    file: "state/event-logs/event-logs.ts",
    find: "  const keys = keysOf(command);",
    replace: "  requireExpectedSequence(log, command);\n  const keys = keysOf(command);",
  },
  {
    name: "guard-asked-of-a-retry-of-an-append",
    pitfall: "S1",
    file: "state/event-logs/event-logs.ts",
    find: "  if (fresh.length > 0) {\n    checkGuard(",
    replace: "  if (fresh.length >= 0) {\n    checkGuard(",
  },
  {
    name: "rejected-append-burns-its-key",
    pitfall: "S2",
    file: "state/event-logs/event-logs.ts",
    find: "    requireExpectedSequence(log, command);\n    requireEventQuotas(",
    replace: `    if (own !== null) {
      yield* rememberKeys(context, log, own, fresh);
    }
    requireExpectedSequence(log, command);
    requireEventQuotas(`,
  },
  {
    name: "keys-of-events-forgotten-by-a-new-leader",
    pitfall: "S03",
    file: "state/event-logs/event-keys.ts",
    find: "  if (keys.isBatch) {\n    return",
    replace: `  const isNew = Reflect.get(context.transaction, "served") === undefined;
  Reflect.set(context.transaction, "served", true);
  if (isNew) {
    return SequenceRuns.NONE;
  }
  if (keys.isBatch) {
    return`,
  },
  {
    name: "duplicate-refreshes-its-window",
    pitfall: "S4",
    file: "state/event-logs/event-keys.ts",
    find: "  return findOne(transaction, log, keys.idempotencyKey, own, isStored);",
    replace: `  const found = findOne(transaction, log, keys.idempotencyKey, own, isStored);
  if (found.length > 0) {
    yield* rememberKeys(context, log, own, found);
  }
  return found;`,
  },
  {
    name: "window-of-keys-ends-early",
    pitfall: "S4",
    file: "state/event-logs/event-keys.ts",
    find: "  return tickMs > storedMs + windowMs;",
    replace: "  return tickMs >= storedMs + windowMs;",
  },
  {
    name: "window-of-keys-by-wall-clock",
    pitfall: "S4",
    file: "state/event-logs/event-keys.ts",
    find: "!isExpired(tickMs, windowMs, context.tickMs);",
    replace: "!isExpired(tickMs, windowMs, context.tickMs + (context.wallMs - 1_750_000_000_250));",
  },
  {
    name: "key-known-to-one-member-alone",
    pitfall: "S5",
    file: "state/event-logs/event-keys.ts",
    find: "  if (keys.isBatch) {\n    return",
    replace:
      "  if (context.origin.memberId > 1) {\n    return SequenceRuns.NONE;\n  }\n  if (keys.isBatch) {\n    return",
  },
  {
    name: "some-duplicates-make-a-batch-new",
    pitfall: "S6",
    file: "state/event-logs/event-logs.ts",
    find: "yield* appendedSequences(found, payloads, log.lastSequence + 1);",
    replace: `yield* appendedSequences(found, payloads, log.lastSequence + 1);
  if (added.appendedEvents > 0 && found.length > 0) {
    return yield* applyAppendEvents(context, { ...command, idempotencyKey: null, isBatch: false }, principal);
  }`,
  },
  {
    name: "some-duplicates-make-a-batch-old",
    pitfall: "S6",
    file: "state/event-logs/event-logs.ts",
    find: "yield* appendedSequences(found, payloads, log.lastSequence + 1);",
    replace: `found.length === 0
    ? yield* appendedSequences(found, payloads, log.lastSequence + 1)
    : { fresh: SequenceRuns.NONE, runs: found, lastSequence: log.lastSequence, appendedEvents: 0, appendedBytes: 0 };`,
  },
  {
    name: "last-sequence-of-a-batch-is-that-of-its-last-event",
    pitfall: "S6",
    file: "state/event-logs/appended-sequences.ts",
    find: "Math.max(this.#lastSequence, firstSequence + count - 1);",
    replace: "firstSequence + count - 1;",
  },
  {
    name: "key-of-its-own-hidden-from-the-rest-of-its-batch",
    pitfall: "S6",
    file: "state/event-logs/event-keys.ts",
    find: "Math.floor(position / SHARED_ROW_POSITIONS)), position };",
    replace: "Math.floor(position / SHARED_ROW_POSITIONS)), position: position % SHARED_ROW_POSITIONS };",
  },
  {
    name: "keys-of-batches-in-a-scope-of-their-own",
    pitfall: "S6",
    file: "state/event-logs/event-keys.ts",
    find: "  const firstSequence = later(own, batch?.sequenceAt(position, isStored));",
    replace: "  const firstSequence = batch?.sequenceAt(position, isStored) === undefined ? own : undefined;",
  },
  {
    name: "key-taken-again-by-another-payload",
    pitfall: "S7",
    file: "state/event-logs/event-logs.ts",
    find: "  const found = keys === null || own === null ? SequenceRuns.NONE : yield* findStoredEvents(context, log, keys, own);",
    replace: `  const stored = keys === null || own === null ? SequenceRuns.NONE : yield* findStoredEvents(context, log, keys, own);
  const sequence = stored.length > 0 ? stored.firstSequenceOf(0) : 0;
  const [event] = readEvents(context.transaction, log, sequence, { eventsMax: 1, bytesMax: 1 });
  const isSame = stored.length > 0 && event?.payload.toHex() === payloads.at(stored.positionOf(0)).toHex();
  const found = isSame ? stored : SequenceRuns.NONE;`,
  },
  {
    name: "every-trailing-delimiter-ignored",
    pitfall: "S8",
    file: "api/http/logs/event-delimiter.ts",
    find: "  } while (from < bytes.length);",
    replace: `  } while (from < bytes.length);
  while (count > 1 && offsets[count - 1] === end) {
    count--;
  }`,
  },
  {
    name: "delimiter-decoded-as-text",
    pitfall: "S8",
    file: "api/http/logs/event-delimiter.ts",
    find: "    return bytes;",
    replace: '    return Buffer.from(bytes.toString("utf8"));',
  },
  {
    name: "expected-sequence-rounded",
    pitfall: "S9",
    file: "api/http/logs/append-headers.ts",
    find: "new RegExp(DECIMAL).test(text) ? BigInt(text) : null",
    replace: "new RegExp(DECIMAL).test(text) ? BigInt(Number(text)) : null",
  },
  {
    name: "expected-sequence-compared-in-32-bits",
    pitfall: "S9",
    file: "state/event-logs/event-logs.ts",
    find: "expectedSequence !== BigInt(log.lastSequence)",
    replace: "BigInt.asUintN(32, expectedSequence) !== BigInt(log.lastSequence)",
  },
  {
    name: "log-visible-by-part-of-a-namespace",
    pitfall: "S40",
    file: "state/event-logs/event-logs.ts",
    find: "!includesNamespace(namespaces, log.namespace)",
    replace: '!namespaces.some((one) => one === "*" || one.startsWith(log.namespace))',
  },
  {
    name: "log-names-of-all-namespaces-are-one",
    pitfall: "S43",
    file: "state/core/rows.ts",
    find: '  return row("logName").plainText(namespace).uint8(0).plainText(name).finish();',
    replace: '  return row("logName").plainText(namespace.slice(0, 0)).uint8(0).plainText(name).finish();',
  },
  {
    name: "log-is-deleted-by-any-member-of-its-namespace",
    pitfall: "S43",
    file: "state/event-logs/event-logs.ts",
    find: '  return log.createdBy === subject ? "write" : "admin";',
    replace: '  return log.createdBy === "" || subject !== "" ? "write" : "admin";',
  },
  {
    name: "guard-of-an-append-not-checked",
    pitfall: "P53",
    file: "state/event-logs/event-logs.ts",
    find: 'checkGuard(context.transaction, command.guard?.namespace ?? "", command.guard);',
    replace: 'checkGuard(context.transaction, command.guard?.namespace ?? "", undefined);',
  },
  {
    name: "events-removed-early",
    pitfall: "S21",
    file: "state/event-logs/log-retention.ts",
    find: "    const isTooOld = tickMs > chunk.tickMs + ageMs;",
    replace: "    const isTooOld = tickMs >= chunk.tickMs + ageMs;",
  },
  {
    name: "empty-log-begins-anew",
    pitfall: "S9",
    file: "state/event-logs/event-logs.ts",
    find: "  if (expectedSequence !== undefined && expectedSequence !== BigInt(log.lastSequence)) {",
    replace:
      "  const last = log.firstSequence > log.lastSequence ? 0 : log.lastSequence;\n  if (expectedSequence !== undefined && expectedSequence !== BigInt(last)) {",
  },
  {
    name: "deleted-logs-not-erased",
    pitfall: "S44",
    file: "replica/context/maintenance.ts",
    find: "  return logErasures > 0 ?",
    replace: "  return logErasures > 1_000_000 ?",
  },
  {
    name: "erasure-begins-anew-with-each-step",
    pitfall: "S44",
    file: "state/event-logs/log-retention.ts",
    find: "nextAfter(events, erasure.events)",
    replace: "nextAfter([], erasure.events)",
  },
  {
    name: "events-that-stay-are-read-for-nothing",
    pitfall: "S44",
    file: "state/event-logs/log-retention.ts",
    find: "    left.bytes -= rowBytes;\n    const isTooOld",
    replace: "    const isTooOld",
  },
  {
    name: "keys-of-events-never-forgotten",
    pitfall: "S21",
    file: "replica/context/maintenance.ts",
    find: "  if (logTimers > 0 && dueMs > 0 && hasDueEventKeys(state, dueMs)) {",
    replace: "  if (logTimers > 1_000_000 && dueMs > 0 && hasDueEventKeys(state, dueMs)) {",
  },
  {
    name: "follower-of-a-log-not-checked-again",
    pitfall: "S39",
    file: "watch/event-hub.ts",
    find: "  follower.recheck(log);\n",
    replace: "",
  },
  {
    name: "slow-follower-of-a-log-sent-more",
    pitfall: "S38",
    file: "watch/stream-scheduler.ts",
    find: "if (this.#streams.has(stream) && !stream.isSending && !this.#ending.has(stream)) {",
    replace: "if (this.#streams.has(stream) && !this.#ending.has(stream)) {",
  },
];
