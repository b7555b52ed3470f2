/** Replay: a request id executes once, at whichever member it is retried. */

import { randomUUID } from "node:crypto";
import { RWMode } from "@quoin/proto";
import { expect } from "chai";
import {
  acquireLock,
  acquireRWLock,
  acquireSemaphore,
  allocateMemory,
  bytesOf,
  compareAndSwap,
  createLock,
  createNamespace,
  createRWLock,
  createSemaphore,
  deleteKey,
  deleteLock,
  deleteNamespace,
  deleteSemaphore,
  describeLock,
  describeMemory,
  expectReplay,
  forceReleaseLock,
  freeMemory,
  getKey,
  putKey,
  releaseLock,
  releaseRWLock,
  releaseSemaphore,
  replayed,
  resizeMemory,
  setLockValue,
  type Table,
  touchKey,
  updateSemaphore,
  writeMemory,
} from "../harness/index.ts";

/** Answers larger than this are stored without the values of keys, which are read again. */
const STORED_BYTES_MAX = 4 * 1024;

export const replay: Table = {
  name: "Replay by request id",
  entries: {
    "of every mutation of keys answers as the first time did, at any member": async (context) => {
      const { namespace } = context;
      const key = { namespace, key: context.name() };
      const created = { namespace: context.freeNamespaceName() };
      await expectReplay(context, createNamespace, created);
      await expectReplay(context, deleteNamespace, { ...created, recursive: true });
      await expectReplay(context, putKey, { ...key, value: Buffer.from("1"), returnPrevious: true });
      await expectReplay(context, putKey, { ...key, value: Buffer.from("2"), ttlSeconds: 60n, returnPrevious: true });
      expect((await context.ask(getKey, key)).version, "each executed once").to.equal(2n);
      await expectReplay(context, compareAndSwap, { ...key, expectedValue: Buffer.from("2") });
      await expectReplay(context, compareAndSwap, { ...key, expectedValue: Buffer.from("2") });
      expect((await context.ask(getKey, key)).version).to.equal(3n);
      await expectReplay(context, touchKey, { ...key, ttlSeconds: 60n });
      await expectReplay(context, deleteKey, { ...key, returnPrevious: true });
    },
    "of every mutation of locks answers as the first time did, at any member": async (context) => {
      const { namespace } = context;
      await expectReplay(context, createLock, { namespace, name: context.name() });
      await expectReplay(context, createRWLock, { namespace, name: context.name() });
      const lock = await context.lock();
      await expectReplay(context, acquireLock, lock);
      const { holder, lastFencingToken } = await context.ask(describeLock, lock);
      expect(holder?.fencingToken).to.equal(lastFencingToken);
      await expectReplay(context, acquireLock, { ...lock, owner: "another" });
      await expectReplay(context, setLockValue, { ...lock, fencingToken: lastFencingToken, value: Buffer.from("v") });
      await expectReplay(context, releaseLock, lock);
      await context.ask(acquireLock, lock);
      await expectReplay(context, forceReleaseLock, lock);
      await expectReplay(context, deleteLock, lock);
      const readWrite = await context.readWriteLock();
      await expectReplay(context, acquireRWLock, { ...readWrite, mode: RWMode.READ });
      await expectReplay(context, releaseRWLock, readWrite);
      await expectReplay(context, createSemaphore, { namespace, name: context.name(), permits: 1 });
      const semaphore = await context.semaphore(2);
      await expectReplay(context, acquireSemaphore, { ...semaphore, permits: 1 });
      await expectReplay(context, updateSemaphore, { ...semaphore, permits: 3 });
      await expectReplay(context, releaseSemaphore, semaphore);
      await expectReplay(context, deleteSemaphore, semaphore);
    },
    "of every mutation of memory answers as the first time did, at any member": async (context) => {
      const { namespace } = context;
      await expectReplay(context, allocateMemory, { namespace, sizeBytes: 10n });
      const { regionId } = await context.ask(allocateMemory, { namespace, sizeBytes: 10n });
      const region = { namespace, regionId };
      await expectReplay(context, writeMemory, { ...region, data: Buffer.from("x") });
      await expectReplay(context, resizeMemory, { ...region, sizeBytes: 5n });
      expect((await context.ask(describeMemory, region)).region?.version, "each executed once").to.equal(3n);
      await expectReplay(context, freeMemory, region);
    },
    "answers with what was then, though much has happened since": async (context) => {
      const key = { namespace: context.namespace, key: context.name() };
      const options = { metadata: { "request-id": randomUUID() } };
      const fields = { ...key, expectedModRevision: 0n };
      const first = await context.ask(putKey, fields, options);
      await context.ask(putKey, key);
      await context.ask(deleteKey, key);
      const again = await context.elsewhere.call(putKey, fields, options);
      expect([again.response, replayed(again)]).to.deep.equal([first, "true"]);
      await context.refuses(getKey, key, "KEY_NOT_FOUND");
    },
    "answers refusals that rest on the state again, though they would not be given any more": async (context) => {
      const key = { namespace: context.namespace, key: context.name() };
      const options = { metadata: { "request-id": randomUUID() } };
      await context.refuses(deleteKey, key, "KEY_NOT_FOUND", options);
      await context.ask(putKey, key);
      const again = await context.refuses(deleteKey, key, "KEY_NOT_FOUND", {
        ...options,
        connection: context.elsewhere,
      });
      expect(replayed(again)).to.equal("true");
      await context.ask(getKey, key);
      const guarded = { metadata: { "request-id": randomUUID() } };
      const lock = { namespace: context.namespace, name: context.name() };
      const put = { ...key, guard: { lockName: lock.name, fencingToken: 1n, rw: false } };
      for (const expected of [undefined, "true"]) {
        expect(replayed(await context.refuses(putKey, put, "FENCED", guarded))).to.equal(expected);
      }
    },
    "S13: refuses the id with another payload or for another operation, and does nothing": async (context) => {
      const key = { namespace: context.namespace, key: context.name() };
      const options = { metadata: { "request-id": randomUUID() } };
      await context.ask(putKey, key, options);
      const connection = context.elsewhere;
      const other = { ...key, value: Buffer.from("x") };
      await context.refuses(putKey, other, "REQUEST_ID_REUSED", options);
      await context.refuses(putKey, other, "REQUEST_ID_REUSED", { ...options, connection });
      await context.refuses(deleteKey, key, "REQUEST_ID_REUSED", { ...options, connection });
      const sameBytes = { namespace: key.namespace, name: key.key };
      await context.refuses(createLock, sameBytes, "REQUEST_ID_REUSED", options);
      expect((await context.askElsewhere(getKey, key)).version).to.equal(1n);
    },
    "S13: answers again what says the same in other bytes": async (context) => {
      const key = { namespace: context.namespace, key: context.name() };
      const options = { metadata: { "request-id": randomUUID() } };
      const first = await context.ask(putKey, key, options);
      const [namespace, name] = [{ namespace: key.namespace }, { key: key.key }].map((field) => bytesOf(putKey, field));
      const defaults = Buffer.of(0x1a, 0x00, 0x20, 0x00, 0x30, 0x00);
      const unknown = Buffer.of(0xc0, 0x3e, 0x07);
      const another = Buffer.concat([unknown, defaults, name as Buffer, namespace as Buffer]);
      for (const connection of [context.elsewhere, context.here]) {
        const again = await connection.call(putKey, another, options);
        expect([again.code, again.response, replayed(again)]).to.deep.equal(["OK", first, "true"]);
      }
      expect((await context.ask(getKey, key)).version).to.equal(1n);
    },
    "S13: keeps the ids of other subjects apart": async (context) => {
      const { sub } = context.testRun.claims;
      const token = context.otherToken(
        "of another subject with the access write to all namespaces",
        (claims) => claims.sub !== sub && claims.access.includes("write") && claims.namespaces.includes("*"),
      );
      const key = { namespace: context.namespace, key: context.name() };
      const options = { metadata: { "request-id": randomUUID() } };
      await context.ask(putKey, key, options);
      const answer = await context.testRun.at(context.here.endpoint, token).call(putKey, key, options);
      expect([answer.code, replayed(answer)]).to.deep.equal(["OK", undefined]);
    },
    "does not remember reads, nor what was refused before it was looked for": async (context) => {
      const key = { namespace: context.namespace, key: context.name() };
      const options = { metadata: { "request-id": randomUUID() } };
      await context.refuses(getKey, key, "KEY_NOT_FOUND", options);
      await context.refuses(putKey, { ...key, ttlSeconds: -1n }, "BAD_FIELD", options);
      const put = await context.here.call(putKey, key, options);
      expect([put.code, replayed(put)]).to.deep.equal(["OK", undefined]);
      const read = await context.here.call(getKey, key, options);
      expect([read.code, replayed(read)], "a read under the id of a mutation").to.deep.equal(["OK", undefined]);
    },
    "is complete where the answer was large, also when the key has changed since": async (context) => {
      const key = { namespace: context.namespace, key: context.name() };
      const value = Buffer.alloc(STORED_BYTES_MAX, "v");
      await context.ask(putKey, { ...key, value });
      const options = { metadata: { "request-id": randomUUID() } };
      const fields = { ...key, returnPrevious: true };
      const first = await context.ask(putKey, fields, options);
      expect(first.previous?.value.length).to.equal(STORED_BYTES_MAX);
      await context.ask(putKey, { ...key, value });
      const again = await context.elsewhere.call(putKey, fields, options);
      expect([replayed(again), again.response]).to.deep.equal(["true", first]);
      const swapping = { metadata: { "request-id": randomUUID() } };
      const failed = await context.ask(compareAndSwap, key, swapping);
      expect([failed.success, failed.currentValue.length]).to.deep.equal([false, STORED_BYTES_MAX]);
      await context.ask(deleteKey, key);
      const swapped = await context.elsewhere.call(compareAndSwap, key, swapping);
      expect([replayed(swapped), swapped.response]).to.deep.equal(["true", failed]);
    },
    "executes a request once that is sent to several members at the same time": async (context) => {
      const key = { namespace: context.namespace, key: context.name() };
      const options = { metadata: { "request-id": randomUUID() } };
      const attempts = [context.here, context.elsewhere, context.here, context.elsewhere];
      const answers = await Promise.all(attempts.map((connection) => connection.call(putKey, key, options)));
      const [first] = answers;
      for (const { code, response } of answers) {
        expect([code, response]).to.deep.equal(["OK", first?.response]);
      }
      expect((await context.ask(getKey, key)).version).to.equal(1n);
      const others = answers.filter((answer) => replayed(answer) === "true");
      expect(others).to.have.lengthOf(attempts.length - 1);
    },
  },
};
