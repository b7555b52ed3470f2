/** Transact: comparisons with every operator, of what exists and what does not, and the branch that runs. */

import { Compare_Operator as Operator, RWMode } from "@quoin/proto";
import { expect } from "chai";
import {
  acquireLock,
  acquireRWLock,
  appendEvent,
  type CompareFields,
  committed,
  createdLog,
  deleteKey,
  getKey,
  putKey,
  refusesTransaction,
  releaseLock,
  type Table,
  type TestContext,
  transact,
  transaction,
} from "../harness/index.ts";

const OPERATORS = [Operator.EQUAL, Operator.NOT_EQUAL, Operator.LESS, Operator.GREATER];
/** The operators that are true if what there is is less than, equal to, or greater than what is expected. */
const LESS = [false, true, true, false];
const EQUAL = [true, false, false, false];
const GREATER = [false, true, false, true];
const ONLY_NOT_EQUAL = [false, true, false, false];

/** Which comparisons are true, all at one moment. */
async function truthsOf(context: TestContext, compares: readonly CompareFields[]): Promise<(boolean | undefined)[]> {
  const { results } = await committed(
    context,
    compares.map((compare) => ({ transaction: { compare: [compare] } })),
  );
  return results.map(({ transaction: one }) => one?.succeeded);
}

/** The same for one comparison with each operator. */
function byOperator(
  context: TestContext,
  make: (operator: Operator) => CompareFields,
): Promise<(boolean | undefined)[]> {
  return truthsOf(context, OPERATORS.map(make));
}

const keys: Table = {
  name: "Transact: comparisons of keys",
  entries: {
    "see whether a key exists": async (context) => {
      const { namespace } = context;
      const key = context.name();
      const both = [true, false].map((exists) => ({ key: { key, exists } }));
      expect(await truthsOf(context, both)).to.deep.equal([false, true]);
      await context.askElsewhere(putKey, { namespace, key });
      expect(await truthsOf(context, both)).to.deep.equal([true, false]);
      const unequal = { key: { key, exists: true, operator: Operator.NOT_EQUAL } };
      const details = { field: "compare[0].key.operator" };
      await refusesTransaction(context, { compare: [unequal] }, "BAD_FIELD", undefined, details);
    },
    "compare values byte by byte": async (context) => {
      const { namespace } = context;
      const key = context.name();
      await context.ask(putKey, { namespace, key, value: Buffer.from([0x6d, 0x80]) });
      for (const [value, expected] of [
        [[0x6d, 0x80], EQUAL],
        [[0x6d], GREATER],
        [[], GREATER],
        [[0x6d, 0x7f, 0xff], GREATER],
        [[0x6d, 0x80, 0], LESS],
        [[0xff], LESS],
      ] as const) {
        const truths = await byOperator(context, (operator) => ({
          key: { key, operator, value: Uint8Array.from(value) },
        }));
        expect(truths, `with ${value}`).to.deep.equal(expected);
      }
    },
    "compare revisions and versions": async (context) => {
      const { namespace } = context;
      const key = context.name();
      const { revision: createRevision } = await context.ask(putKey, { namespace, key });
      const { revision: modRevision } = await context.askElsewhere(putKey, { namespace, key });
      for (const [name, number] of [
        ["createRevision", createRevision],
        ["modRevision", modRevision],
        ["version", 2n],
      ] as const) {
        for (const [difference, expected] of [
          [1n, LESS],
          [0n, EQUAL],
          [-1n, GREATER],
        ] as const) {
          const truths = await byOperator(context, (operator) => ({
            key: { key, operator, [name]: number + difference },
          }));
          expect(truths, `${name} and ${difference}`).to.deep.equal(expected);
        }
      }
    },
    "count a key that does not exist as 0, and as unequal to every value": async (context) => {
      const { namespace } = context;
      const never = context.name();
      const gone = context.name();
      await context.ask(putKey, { namespace, key: gone });
      await context.ask(deleteKey, { namespace, key: gone });
      for (const key of [never, gone]) {
        for (const name of ["createRevision", "modRevision", "version"]) {
          const withNumber = (number: bigint) => (operator: Operator) => ({ key: { key, operator, [name]: number } });
          expect(await byOperator(context, withNumber(0n)), name).to.deep.equal(EQUAL);
          expect(await byOperator(context, withNumber(1n)), name).to.deep.equal(LESS);
        }
        for (const value of ["", "x"]) {
          const withValue = (operator: Operator) => ({ key: { key, operator, value: Buffer.from(value) } });
          expect(await byOperator(context, withValue), value).to.deep.equal(ONLY_NOT_EQUAL);
        }
      }
    },
    "see whether a prefix has changed since a revision, by others and not by the transaction": async (context) => {
      const { namespace } = context;
      const prefix = `${context.name()}/`;
      const unchanged = (unchangedSince: bigint, of = prefix) => ({ prefix: { prefix: of, unchangedSince } });
      const { revision } = await context.askElsewhere(putKey, { namespace, key: `${prefix}a` });
      await context.ask(putKey, { namespace, key: `${prefix.slice(0, -1)}0` });
      expect(await truthsOf(context, [unchanged(revision), unchanged(revision - 1n)])).to.deep.equal([true, false]);
      const gone = await context.ask(deleteKey, { namespace, key: `${prefix}a` });
      const both = [unchanged(revision), unchanged(gone.revision)];
      expect(await truthsOf(context, both)).to.deep.equal([false, true]);
      const { results } = await committed(context, [
        { put: { key: `${prefix}b` } },
        { transaction: { compare: [unchanged(gone.revision)] } },
      ]);
      expect(results[1]?.transaction?.succeeded, "its own changes").to.equal(true);
      expect(await truthsOf(context, [unchanged(2n ** 53n - 1n)]), "a revision of the future").to.deep.equal([true]);
      expect(await truthsOf(context, [unchanged(revision, "")]), "all keys").to.deep.equal([false]);
    },
    "let one of many win that have read the same": async (context) => {
      const { namespace } = context;
      const key = context.name();
      const { revision: modRevision } = await context.ask(putKey, { namespace, key });
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, at) => {
          const swap = transaction(context, {
            compare: [{ key: { key, modRevision } }],
            success: [{ put: { key, value: Buffer.from(String(at)) } }],
            failure: [{ get: { key } }],
          });
          return at % 2 === 0 ? context.ask(transact, swap) : context.askElsewhere(transact, swap);
        }),
      );
      const winners = answers.flatMap(({ succeeded }, at) => (succeeded ? [at] : []));
      expect(winners).to.have.lengthOf(1);
      const { value } = await context.ask(getKey, { namespace, key });
      expect(Buffer.from(value).toString()).to.equal(String(winners[0]));
      const others = answers.filter(({ succeeded }) => !succeeded);
      for (const { results, failedCompare } of others) {
        expect([failedCompare, Buffer.from(results[0]?.get?.kv?.value ?? [])]).to.deep.equal([0, Buffer.from(value)]);
      }
    },
  },
};

const others: Table = {
  name: "Transact: comparisons of holds and logs",
  entries: {
    "see whether a hold is live": async (context) => {
      const lock = await context.lock();
      const { fencingToken } = await context.askElsewhere(acquireLock, lock);
      const hold = { lockName: lock.name, fencingToken, rw: false };
      const compares = [hold, { ...hold, fencingToken: fencingToken + 1n }, { ...hold, rw: true }].map((one) => ({
        hold: one,
      }));
      const absent = { hold: { ...hold, lockName: context.name() } };
      expect(await truthsOf(context, [...compares, absent])).to.deep.equal([true, false, false, false]);
      await context.ask(releaseLock, { ...lock, fencingToken });
      expect(await truthsOf(context, compares)).to.deep.equal([false, false, false]);
    },
    "see the WRITE hold of a read-write lock, and no READ hold": async (context) => {
      const lock = await context.readWriteLock();
      const isHeld = async (mode: RWMode, held = 0n) => {
        const { fencingToken } = await context.ask(acquireRWLock, { ...lock, mode, fencingToken: held });
        const [isLive] = await truthsOf(context, [{ hold: { lockName: lock.name, fencingToken, rw: true } }]);
        return { fencingToken, isLive };
      };
      const { fencingToken, isLive } = await isHeld(RWMode.WRITE);
      expect(isLive).to.equal(true);
      expect((await isHeld(RWMode.READ, fencingToken)).isLive).to.equal(false);
    },
    "compare the last sequence of a log": async (context) => {
      const { logId } = await createdLog(context);
      const with_ = (lastSequence: bigint) => (operator: Operator) => ({ log: { logId, operator, lastSequence } });
      expect(await byOperator(context, with_(0n))).to.deep.equal(EQUAL);
      await context.ask(appendEvent, { logId });
      await context.askElsewhere(appendEvent, { logId });
      expect(await byOperator(context, with_(1n))).to.deep.equal(GREATER);
      expect(await byOperator(context, with_(2n))).to.deep.equal(EQUAL);
      expect(await byOperator(context, with_(3n))).to.deep.equal(LESS);
    },
    "decide together, and the first one that is not true is named": async (context) => {
      const { namespace } = context;
      const [key, absent] = [context.name(), context.name()];
      await context.ask(putKey, { namespace, key });
      const isThere = { key: { key, exists: true } };
      const isNot = { key: { key: absent, exists: true } };
      const run = (compare: CompareFields[]) =>
        context.ask(
          transact,
          transaction(context, { compare, success: [{ get: { key } }], failure: [{ get: { key: absent } }] }),
        );
      for (const [compare, failedCompare] of [
        [[], undefined],
        [[isThere, isThere], undefined],
        [[isNot, isThere], 0],
        [[isThere, isNot, isNot], 1],
      ] as const) {
        const answer = await run([...compare]);
        expect([answer.succeeded, answer.failedCompare]).to.deep.equal([failedCompare === undefined, failedCompare]);
        expect(answer.results[0]?.get?.kv?.key).to.equal(failedCompare === undefined ? key : undefined);
      }
    },
  },
};

export const transactionComparisons: readonly Table[] = [keys, others];
