/**
 * Applying commands over RocksDB, in slices: each slice is one batch, as the driver makes them.
 *
 * All cases of a group share one member, so the state grows as they go. Entries are made before they are measured.
 */

import { invariant } from "../src/primitives/index.ts";
import { type ClientOperation, kindOf, Payloads, type Result } from "../src/state/index.ts";
import { requestOf } from "../test/index.ts";
import type { FoundedMember } from "./founded-member.ts";
import type { MicroCase } from "./measurement.ts";

/** Entries of a slice: alone, under load, and while a member catches up. */
const SLICES: readonly number[] = [1, 15, 128];
/** The same for entries that are as much work as a hundred others. */
const SLICES_OF_LONG_ENTRIES: readonly number[] = [1, 15];
/** Operations of a round that ends before the garbage collector runs: slices are not cut. */
const SHORT_ROUND_OPERATIONS = 30;
const NAMESPACE = "default";
/** Keys that are put again and again: the second put of a key is the usual one. */
const KEYS = 10_000;
const VALUE = Buffer.alloc(256, 0x76);
const LOCKS = 1_000;
const LOCK_TTL_SECONDS = 30;
const EVENT = Buffer.alloc(1024, 0x65);
const REGION_BYTES = 4 * 1024 * 1024;
const PAGE = Buffer.alloc(4096, 0x6d);
const PUTS_OF_A_TRANSACTION = 100;

/** Makes the commands of one operation, given its number. */
type Commands = (number: number) => readonly ClientOperation[];

/** The cases of all operations and slices over this member, for which it makes what they need. */
export function applyCases(member: FoundedMember): readonly MicroCase[] {
  const writer = new CommandWriter(member);
  const operations: readonly (readonly [string, Commands, readonly number[]])[] = [
    ["put of 256 B", (number) => [putOf(keyOf(number))], SLICES],
    ["compare-and-swap", compareAndSwap(writer), SLICES],
    ["lock cycle", lockCycle(writer), SLICES],
    ["append of 1 KiB", append(writer), SLICES],
    ["memory write of 4 KiB", memoryWrite(writer), SLICES],
    [`transaction of ${PUTS_OF_A_TRANSACTION} new keys of 256 B`, transactionOfPuts, SLICES_OF_LONG_ENTRIES],
  ];
  return operations.flatMap(([name, commands, slices]) =>
    slices.map((slice) => ({
      name: `apply ${name}, slices of ${slice}`,
      roundMultiple: slice,
      shortRoundOperations: Math.max(slice, SHORT_ROUND_OPERATIONS),
      prepare: (count) => {
        const rows = writer.rows(commands, count);
        return () => {
          for (const [at, ofOperation] of rows.entries()) {
            for (const row of ofOperation) {
              member.apply(row);
            }
            if ((at + 1) % slice === 0) {
              member.machine.commit();
            }
          }
          member.machine.commit();
        };
      },
    })),
  );
}

/** Writes commands under request ids that were not used before. */
class CommandWriter {
  readonly member: FoundedMember;
  #requests = 0;
  #operations = 0;

  constructor(member: FoundedMember) {
    this.member = member;
  }

  /** The entries of so many operations, each with numbers that go on from those of the rounds before. */
  rows(commands: Commands, count: number): Uint8Array[][] {
    return Array.from({ length: count }, () => commands(this.#operations++).map((operation) => this.row(operation)));
  }

  row(operation: ClientOperation): Uint8Array {
    const principal = this.member.owner;
    const request = kindOf(operation).mayLackId ? null : requestOf(this.#requests++);
    return this.member.command({ principal, request, operation });
  }

  /** Applies one command as a slice of its own, and returns its result. */
  result<Kind extends ClientOperation["kind"]>(
    operation: Extract<ClientOperation, { readonly kind: Kind }>,
  ): Extract<Result, { readonly kind: Kind }> {
    const answer = this.member.apply(this.row(operation))?.answer;
    this.member.machine.commit();
    invariant(answer !== undefined && "kind" in answer && answer.kind === operation.kind, "a command has its result");
    return answer as Extract<Result, { readonly kind: Kind }>;
  }
}

function keyOf(number: number): Uint8Array {
  return Buffer.from(`key-${number % KEYS}`);
}

function putOf(key: Uint8Array): Extract<ClientOperation, { readonly kind: "put-key" }> {
  return {
    kind: "put-key",
    namespace: NAMESPACE,
    key,
    value: VALUE,
    ttlSeconds: 0,
    expectedModRevision: undefined,
    returnPrevious: false,
  };
}

function transactionOfPuts(number: number): readonly ClientOperation[] {
  const success = Array.from({ length: PUTS_OF_A_TRANSACTION }, (_, at) => {
    return putOf(Buffer.from(`transaction/${number * PUTS_OF_A_TRANSACTION + at}`));
  });
  return [{ kind: "transact", namespace: NAMESPACE, conditions: [], success, failure: [] }];
}

/** Swaps one counter's value for the next one; each swap succeeds. */
function compareAndSwap(writer: CommandWriter): Commands {
  const key = Buffer.from("counter");
  let present = "";
  writer.result<"put-key">({
    kind: "put-key",
    namespace: NAMESPACE,
    key,
    value: Buffer.from(present),
    ttlSeconds: 0,
    expectedModRevision: undefined,
    returnPrevious: false,
  });
  return (number) => {
    const expectedValue = Buffer.from(present);
    present = String(number);
    return [
      {
        kind: "compare-and-swap",
        namespace: NAMESPACE,
        key,
        expectedValue,
        newValue: Buffer.from(present),
        expectedModRevision: undefined,
        ttlSeconds: 0,
      },
    ];
  };
}

/** Takes a lock that is free, and gives it back. */
function lockCycle(writer: CommandWriter): Commands {
  for (let at = 0; at < LOCKS; at++) {
    writer.result<"create-lock">({
      kind: "create-lock",
      namespace: NAMESPACE,
      rw: false,
      name: `lock-${at}`,
      ttlSeconds: LOCK_TTL_SECONDS,
      lockDelaySeconds: 0,
    });
  }
  return (number) => {
    const name = `lock-${number % LOCKS}`;
    return [
      {
        kind: "acquire-lock",
        namespace: NAMESPACE,
        name,
        mode: "exclusive",
        ttlSeconds: LOCK_TTL_SECONDS,
        owner: "",
        waitMs: 0,
        fencingToken: 0,
      },
      { kind: "release-lock", namespace: NAMESPACE, rw: false, name, mode: null, owner: "", fencingToken: 0 },
    ];
  };
}

function append(writer: CommandWriter): Commands {
  const settings = { duplicateWindowSecs: null, retentionMaxAgeSecs: null, retentionMaxBytes: null };
  const { logId } = writer.result<"create-log">({
    kind: "create-log",
    name: "micro",
    namespace: NAMESPACE,
    settings,
  }).log;
  const payloads = Payloads.of([EVENT]);
  return (number) => [
    {
      kind: "append-events",
      logId,
      payloads,
      isBatch: false,
      idempotencyKey: `event-${number}`,
      expectedSequence: undefined,
    },
  ];
}

/** Overwrites one aligned page of a region. */
function memoryWrite(writer: CommandWriter): Commands {
  const { regionId } = writer.result<"allocate-memory">({
    kind: "allocate-memory",
    namespace: NAMESPACE,
    sizeBytes: REGION_BYTES,
    label: "",
  });
  return (number) => [
    {
      kind: "write-memory",
      namespace: NAMESPACE,
      regionId,
      expectedVersion: undefined,
      offset: (number * PAGE.length) % REGION_BYTES,
      data: PAGE,
    },
  ];
}
