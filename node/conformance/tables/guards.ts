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
  type Place,
  putKey,
  readMemory,
  releaseLock,
  releaseRWLock,
  resizeMemory,
  type Table,
  until,
  writeMemory,
} from "../harness/index.ts";

const VALUE = Buffer.from("guarded");
const NAME_BYTES_MAX = 256;

/** Every operation that takes a guard. Each creates its own target. */
async function writeAll(place: Place, guard: Guard): Promise<void> {
  const key = { namespace: place.namespace, key: place.name() };
  await place.ask(putKey, { ...key, value: VALUE, guard });
  const swapped = await place.ask(compareAndSwap, { ...key, expectedValue: VALUE, newValue: VALUE, guard });
  expect(swapped.success).to.equal(true);
  await place.ask(deleteKey, { ...key, guard });
  const { regionId } = await place.ask(allocateMemory, { namespace: place.namespace, sizeBytes: 10n });
  const region = { namespace: place.namespace, regionId };
  await place.ask(writeMemory, { ...region, data: VALUE, guard });
  await place.ask(resizeMemory, { ...region, sizeBytes: 20n, guard });
  await place.ask(freeMemory, { ...region, guard });
}

async function refuseAll(place: Place, guard: Guard): Promise<void> {
  const key = { namespace: place.namespace, key: place.name() };
  const { modRevision } = await place.ask(putKey, key);
  await place.refuses(putKey, { ...key, value: VALUE, guard }, "FENCED");
  await place.refuses(compareAndSwap, { ...key, expectedModRevision: modRevision, newValue: VALUE, guard }, "FENCED");
  await place.refuses(deleteKey, { ...key, guard }, "FENCED");
  const found = await place.askElsewhere(getKey, key);
  expect(found.modRevision, "nothing was written").to.equal(modRevision);
  const { regionId } = await place.ask(allocateMemory, { namespace: place.namespace, sizeBytes: 10n });
  const region = { namespace: place.namespace, regionId };
  await place.refuses(writeMemory, { ...region, data: VALUE, guard }, "FENCED");
  await place.refuses(resizeMemory, { ...region, sizeBytes: 20n, guard }, "FENCED");
  await place.refuses(freeMemory, { ...region, guard }, "FENCED");
  expect((await place.askElsewhere(readMemory, { ...region, length: 10n })).version, "nor there").to.equal(1n);
}

export const guards: Table = {
  name: "Guards",
  entries: {
    "let writes pass while the hold is live, by any client at any member": async (place) => {
      const lock = await place.lock();
      const { fencingToken } = await place.askElsewhere(acquireLock, { ...lock, owner: "o" });
      await writeAll(place, { lockName: lock.name, fencingToken, rw: false });
    },
    "stop writes after the hold was given back, and writes of the holder before": async (place) => {
      const lock = await place.lock();
      const { fencingToken } = await place.ask(acquireLock, lock);
      await place.askElsewhere(releaseLock, { ...lock, fencingToken });
      await refuseAll(place, { lockName: lock.name, fencingToken, rw: false });
      const next = await place.ask(acquireLock, lock);
      await refuseAll(place, { lockName: lock.name, fencingToken, rw: false });
      await writeAll(place, { lockName: lock.name, fencingToken: next.fencingToken, rw: false });
    },
    "stop writes after the hold was forced": async (place) => {
      const lock = await place.lock();
      const { fencingToken } = await place.ask(acquireLock, lock);
      await place.askElsewhere(forceReleaseLock, lock);
      await refuseAll(place, { lockName: lock.name, fencingToken, rw: false });
    },
    "stop writes after the life of the hold": async (place) => {
      const lock = await place.lock();
      const { fencingToken } = await place.ask(acquireLock, { ...lock, ttlSeconds: 1n });
      const guard = { lockName: lock.name, fencingToken, rw: false };
      const key = { namespace: place.namespace, key: place.name(), value: VALUE, guard };
      await until("the guard to be refused", async () => {
        const answer = await place.here.call(putKey, key);
        expect(answer.code).to.be.oneOf(["OK", "ABORTED"]);
        return answer.code === "ABORTED";
      });
      await refuseAll(place, guard);
    },
    "of a read-write lock want its WRITE hold": async (place) => {
      const lock = await place.readWriteLock();
      const read = await place.ask(acquireRWLock, { ...lock, mode: RWMode.READ });
      await refuseAll(place, { lockName: lock.name, fencingToken: read.fencingToken, rw: true });
      await place.ask(releaseRWLock, lock);
      const { fencingToken } = await place.ask(acquireRWLock, { ...lock, mode: RWMode.WRITE });
      await writeAll(place, { lockName: lock.name, fencingToken, rw: true });
      await refuseAll(place, { lockName: lock.name, fencingToken, rw: false });
      await place.ask(createLock, lock);
      await refuseAll(place, { lockName: lock.name, fencingToken, rw: false });
      await place.ask(acquireRWLock, { ...lock, mode: RWMode.READ, fencingToken });
      await refuseAll(place, { lockName: lock.name, fencingToken, rw: true });
    },
    "of a lock that does not exist, or in another namespace, stop every write": async (place) => {
      await refuseAll(place, { lockName: place.name(), fencingToken: 1n, rw: false });
      const lock = await place.lock();
      const { fencingToken } = await place.ask(acquireLock, lock);
      const namespace = await place.newNamespace();
      const guard = { lockName: lock.name, fencingToken, rw: false };
      await place.refuses(putKey, { namespace, key: "k", guard }, "FENCED");
    },
    "are decided before whether the key or region exists and is as expected": async (place) => {
      const guard = { lockName: place.name(), fencingToken: 1n, rw: false };
      const key = { namespace: place.namespace, key: place.name() };
      await place.refuses(putKey, { ...key, expectedModRevision: 5n, guard }, "FENCED");
      await place.refuses(deleteKey, { ...key, guard }, "FENCED");
      await place.refuses(compareAndSwap, { ...key, expectedModRevision: 5n, guard }, "FENCED");
    },
    "name their fields when these cannot be": async (place) => {
      const key = { namespace: place.namespace, key: place.name() };
      const lockName = "l".repeat(NAME_BYTES_MAX + 1);
      const limit = { field: "guard.lock_name", limit: NAME_BYTES_MAX };
      await place.refuses(putKey, { ...key, guard: { lockName, fencingToken: 1n, rw: false } }, "TOO_LARGE", limit);
      const nameless = { ...key, guard: { lockName: "", fencingToken: 1n, rw: false } };
      await place.refuses(putKey, nameless, "BAD_FIELD", { field: "guard.lock_name" });
      for (const fencingToken of [0n, -1n]) {
        const tokenless = { ...key, guard: { lockName: "l", fencingToken, rw: false } };
        await place.refuses(putKey, tokenless, "BAD_FIELD", { field: "guard.fencing_token" });
      }
    },
  },
};
