/** LockService on a server. */

import { serviceDefinitions } from "@quoin/proto";
import type { Caller } from "../../access/index.ts";
import { type PortContext, type ServedMethod, serve } from "../calls/index.ts";
import { type LockListingMethods, type LockMethods, waitMsOf } from "../methods/index.ts";

export function lockService(
  port: PortContext<Caller>,
  methods: LockMethods,
  listings: LockListingMethods,
): readonly ServedMethod[] {
  return serve(port, serviceDefinitions.LockService, {
    createLock: (call, request, reply) => methods.createLock(call, request, reply),
    describeLock: (call, request, reply) => methods.describeLock(call, request, reply),
    acquireLock: {
      isUnlimited: isRenewal,
      waitMs: waitMsOf,
      handle: (call, request, reply) => methods.acquireLock(call, request, reply),
    },
    releaseLock: {
      isUnlimited: always,
      handle: (call, request, reply) => methods.releaseLock(call, request, reply),
    },
    forceReleaseLock: (call, request, reply) => methods.forceReleaseLock(call, request, reply),
    createRWLock: (call, request, reply) => methods.createRWLock(call, request, reply),
    describeRWLock: (call, request, reply) => methods.describeRWLock(call, request, reply),
    acquireRWLock: {
      isUnlimited: isRenewal,
      waitMs: waitMsOf,
      handle: (call, request, reply) => methods.acquireRWLock(call, request, reply),
    },
    releaseRWLock: {
      isUnlimited: always,
      handle: (call, request, reply) => methods.releaseRWLock(call, request, reply),
    },
    deleteLock: (call, request, reply) => methods.deleteLock(call, request, reply),
    deleteRWLock: (call, request, reply) => methods.deleteRWLock(call, request, reply),
    setLockValue: (call, request, reply) => methods.setLockValue(call, request, reply),
    createSemaphore: (call, request, reply) => methods.createSemaphore(call, request, reply),
    describeSemaphore: (call, request, reply) => methods.describeSemaphore(call, request, reply),
    acquireSemaphore: {
      isUnlimited: isRenewal,
      waitMs: waitMsOf,
      handle: (call, request, reply) => methods.acquireSemaphore(call, request, reply),
    },
    releaseSemaphore: {
      isUnlimited: always,
      handle: (call, request, reply) => methods.releaseSemaphore(call, request, reply),
    },
    updateSemaphore: (call, request, reply) => methods.updateSemaphore(call, request, reply),
    deleteSemaphore: (call, request, reply) => methods.deleteSemaphore(call, request, reply),
    listLocks: (call, request, reply) => listings.listLocks(call, request, reply),
    listLockWaits: (call, request, reply) => listings.listLockWaits(call, request, reply),
  });
}

/** A renewal is not limited: a client that cannot renew a hold loses it. */
function isRenewal({ fencingToken }: { readonly fencingToken: bigint }): boolean {
  return fencingToken !== 0n;
}

function always(): boolean {
  return true;
}
