/** Guards: writes that count only while a hold is live. */

import type { Guard } from "@quoin/proto";
import { RWMode } from "@quoin/proto";
import { expect } from "chai";
import {
  acquireLock,
  acquireRWLock,
  allocateMemory,
  compareAndSwap,
  createLock,
  deleteKey,
  forceReleaseLock,
  freeMemory,
  getKey,
  putKey,
  readMemory,
  releaseLock,
  releaseRWLock,
  resizeMemory,
  type Table,
  type TestContext,
  touchKey,
  until,
  writeMemory,
} from "../harness/index.ts";

const VALUE = Buffer.from("guarded");
const NAME_BYTES_MAX = 256;

/** Every operation that takes a guard. Each creates its own target. */
async function writeAll(context: TestContext, guard: Guard): Promise<void> {
  const key = { namespace: context.namespace, key: context.name() };
  await context.ask(putKey, { ...key, value: VALUE, guard });
  const swapped = await context.ask(compareAndSwap, { ...key, expectedValue: VALUE, newValue: VALUE, guard });
  expect(swapped.success).to.equal(true);
  await context.ask(touchKey, { ...key, guard });
  await context.ask(deleteKey, { ...key, guard });
  const { regionId } = await context.ask(allocateMemory, { namespace: context.namespace, sizeBytes: 10n });
  const region = { namespace: context.namespace, regionId };
  await context.ask(writeMemory, { ...region, data: VALUE, guard });
  await context.ask(resizeMemory, { ...region, sizeBytes: 20n, guard });
  await context.ask(freeMemory, { ...region, guard });
}

async function refuseAll(context: TestContext, guard: Guard): Promise<void> {
  const key = { namespace: context.namespace, key: context.name() };
  const { modRevision } = await context.ask(putKey, key);
  await context.refuses(putKey, { ...key, value: VALUE, guard }, "FENCED");
  await context.refuses(compareAndSwap, { ...key, expectedModRevision: modRevision, newValue: VALUE, guard }, "FENCED");
  await context.refuses(touchKey, { ...key, guard }, "FENCED");
  await context.refuses(deleteKey, { ...key, guard }, "FENCED");
  const found = await context.askElsewhere(getKey, key);
  expect(found.modRevision, "nothing was written").to.equal(modRevision);
  const { regionId } = await context.ask(allocateMemory, { namespace: context.namespace, sizeBytes: 10n });
  const region = { namespace: context.namespace, regionId };
  await context.refuses(writeMemory, { ...region, data: VALUE, guard }, "FENCED");
  await context.refuses(resizeMemory, { ...region, sizeBytes: 20n, guard }, "FENCED");
  await context.refuses(freeMemory, { ...region, guard }, "FENCED");
  expect((await context.askElsewhere(readMemory, { ...region, length: 10n })).version, "nor there").to.equal(1n);
}

export const guards: Table = {
  name: "Guards",
  entries: {
    "let writes pass while the hold is live, by any client at any member": async (context) => {
      const lock = await context.lock();
      const { fencingToken } = await context.askElsewhere(acquireLock, { ...lock, owner: "o" });
      await writeAll(context, { lockName: lock.name, fencingToken, rw: false });
    },
    "stop writes after the hold was given back, and writes of the holder before": async (context) => {
      const lock = await context.lock();
      const { fencingToken } = await context.ask(acquireLock, lock);
      await context.askElsewhere(releaseLock, { ...lock, fencingToken });
      await refuseAll(context, { lockName: lock.name, fencingToken, rw: false });
      const next = await context.ask(acquireLock, lock);
      await refuseAll(context, { lockName: lock.name, fencingToken, rw: false });
      await writeAll(context, { lockName: lock.name, fencingToken: next.fencingToken, rw: false });
    },
    "stop writes after the hold was forced": async (context) => {
      const lock = await context.lock();
      const { fencingToken } = await context.ask(acquireLock, lock);
      await context.askElsewhere(forceReleaseLock, lock);
      await refuseAll(context, { lockName: lock.name, fencingToken, rw: false });
    },
    "stop writes after the life of the hold": async (context) => {
      const lock = await context.lock();
      const { fencingToken } = await context.ask(acquireLock, { ...lock, ttlSeconds: 1n });
      const guard = { lockName: lock.name, fencingToken, rw: false };
      const key = { namespace: context.namespace, key: context.name(), value: VALUE, guard };
      await until("the guard to be refused", async () => {
        const answer = await context.here.call(putKey, key);
        expect(answer.code).to.be.oneOf(["OK", "ABORTED"]);
        return answer.code === "ABORTED";
      });
      await refuseAll(context, guard);
    },
    "of a read-write lock want its WRITE hold": async (context) => {
      const lock = await context.readWriteLock();
      const read = await context.ask(acquireRWLock, { ...lock, mode: RWMode.READ });
      await refuseAll(context, { lockName: lock.name, fencingToken: read.fencingToken, rw: true });
      await context.ask(releaseRWLock, lock);
      const { fencingToken } = await context.ask(acquireRWLock, { ...lock, mode: RWMode.WRITE });
      await writeAll(context, { lockName: lock.name, fencingToken, rw: true });
      await refuseAll(context, { lockName: lock.name, fencingToken, rw: false });
      await context.ask(createLock, lock);
      await refuseAll(context, { lockName: lock.name, fencingToken, rw: false });
      await context.ask(acquireRWLock, { ...lock, mode: RWMode.READ, fencingToken });
      await refuseAll(context, { lockName: lock.name, fencingToken, rw: true });
    },
    "of a lock that does not exist, or in another namespace, stop every write": async (context) => {
      await refuseAll(context, { lockName: context.name(), fencingToken: 1n, rw: false });
      const lock = await context.lock();
      const { fencingToken } = await context.ask(acquireLock, lock);
      const namespace = await context.newNamespace();
      const guard = { lockName: lock.name, fencingToken, rw: false };
      await context.refuses(putKey, { namespace, key: "k", guard }, "FENCED");
    },
    "are decided before whether the key or region exists and is as expected": async (context) => {
      const guard = { lockName: context.name(), fencingToken: 1n, rw: false };
      const key = { namespace: context.namespace, key: context.name() };
      await context.refuses(putKey, { ...key, expectedModRevision: 5n, guard }, "FENCED");
      await context.refuses(deleteKey, { ...key, guard }, "FENCED");
      await context.refuses(touchKey, { ...key, guard }, "FENCED");
      await context.refuses(compareAndSwap, { ...key, expectedModRevision: 5n, guard }, "FENCED");
    },
    "name their fields when these cannot be": async (context) => {
      const key = { namespace: context.namespace, key: context.name() };
      const lockName = "l".repeat(NAME_BYTES_MAX + 1);
      const limit = { field: "guard.lock_name", limit: NAME_BYTES_MAX };
      await context.refuses(putKey, { ...key, guard: { lockName, fencingToken: 1n, rw: false } }, "TOO_LARGE", limit);
      const nameless = { ...key, guard: { lockName: "", fencingToken: 1n, rw: false } };
      await context.refuses(putKey, nameless, "BAD_FIELD", { field: "guard.lock_name" });
      for (const fencingToken of [0n, -1n]) {
        const tokenless = { ...key, guard: { lockName: "l", fencingToken, rw: false } };
        await context.refuses(putKey, tokenless, "BAD_FIELD", { field: "guard.fencing_token" });
      }
    },
  },
};
