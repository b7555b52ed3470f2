/** LockService on a server. */

import {
  AcquireLockRequest,
  AcquireRWLockRequest,
  CreateLockRequest,
  CreateRWLockRequest,
  DescribeLockRequest,
  DescribeRWLockRequest,
  ForceReleaseLockRequest,
  ReleaseLockRequest,
  ReleaseRWLockRequest,
  serviceDefinitions,
} from "@quoin/proto";
import type { Caller } from "../../access/index.ts";
import { type Implementation, type PortContext, unary } from "../calls/index.ts";
import { type LockMethods, waitMsOf } from "../methods/index.ts";

const DEFINITION = serviceDefinitions.LockService;

export function lockService(port: PortContext<Caller>, methods: LockMethods): Implementation<typeof DEFINITION> {
  return {
    createLock: unary(port, {
      path: DEFINITION.createLock.path,
      codec: CreateLockRequest,
      handle: (call, request, reply) => methods.createLock(call, request, reply),
    }),
    describeLock: unary(port, {
      path: DEFINITION.describeLock.path,
      codec: DescribeLockRequest,
      handle: (call, request, reply) => methods.describeLock(call, request, reply),
    }),
    acquireLock: unary(port, {
      path: DEFINITION.acquireLock.path,
      codec: AcquireLockRequest,
      isUnlimited: isRenewal,
      waitMs: waitMsOf,
      handle: (call, request, reply) => methods.acquireLock(call, request, reply),
    }),
    releaseLock: unary(port, {
      path: DEFINITION.releaseLock.path,
      codec: ReleaseLockRequest,
      isUnlimited: always,
      handle: (call, request, reply) => methods.releaseLock(call, request, reply),
    }),
    forceReleaseLock: unary(port, {
      path: DEFINITION.forceReleaseLock.path,
      codec: ForceReleaseLockRequest,
      handle: (call, request, reply) => methods.forceReleaseLock(call, request, reply),
    }),
    createRwLock: unary(port, {
      path: DEFINITION.createRwLock.path,
      codec: CreateRWLockRequest,
      handle: (call, request, reply) => methods.createRWLock(call, request, reply),
    }),
    describeRwLock: unary(port, {
      path: DEFINITION.describeRwLock.path,
      codec: DescribeRWLockRequest,
      handle: (call, request, reply) => methods.describeRWLock(call, request, reply),
    }),
    acquireRwLock: unary(port, {
      path: DEFINITION.acquireRwLock.path,
      codec: AcquireRWLockRequest,
      isUnlimited: isRenewal,
      waitMs: waitMsOf,
      handle: (call, request, reply) => methods.acquireRWLock(call, request, reply),
    }),
    releaseRwLock: unary(port, {
      path: DEFINITION.releaseRwLock.path,
      codec: ReleaseRWLockRequest,
      isUnlimited: always,
      handle: (call, request, reply) => methods.releaseRWLock(call, request, reply),
    }),
  };
}

/** A renewal is not limited: a client that cannot renew a hold loses it. */
function isRenewal({ fencingToken }: { readonly fencingToken: bigint }): boolean {
  return fencingToken !== 0n;
}

function always(): boolean {
  return true;
}
