/** All operations of the state machine, collected, and what follows from their values for everyone who handles them. */

import { InvariantViolation, invariant } from "../primitives/index.ts";
import {
  createApiKeyOperation,
  createUserOperation,
  deleteUserOperation,
  dropSigningKeysOperation,
  pruneUsageOperation,
  reportUseOperation,
  resetOwnerOperation,
  revokeApiKeyOperation,
  rotateSigningKeyOperation,
  updateUserOperation,
  verifyUserOperation,
} from "./accounts/index.ts";
import { claimSlotOperation, MEMBERSHIP_ANSWER, updateMemberOperation } from "./cluster/index.ts";
import {
  AnswerForms,
  type ClientOperationKind,
  type ClusterOperationKind,
  CoordinationError,
  compactHistoryOperation,
  ONE_REQUEST,
  type OperationOf,
  type Principal,
  putSettingsOperation,
  type RequiredAccess,
  type Result,
  type StateReader,
  trimHistoryOperation,
  type UsageCounts,
} from "./core/index.ts";
import {
  appendEventsOperation,
  applyRetentionOperation,
  createLogOperation,
  deleteLogOperation,
  eraseLogsOperation,
  pruneEventKeysOperation,
  updateLogSettingsOperation,
} from "./event-logs/index.ts";
import {
  checkDigestOperation,
  createNamespaceOperation,
  dropStoredAnswersOperation,
  setClusterVersionOperation,
  tickOperation,
} from "./general-operations.ts";
import {
  compareAndSwapOperation,
  deleteKeyOperation,
  expireKeysOperation,
  putKeyOperation,
  touchKeyOperation,
} from "./keys/index.ts";
import {
  acquireLockOperation,
  cancelAcquisitionOperation,
  createLockOperation,
  createSemaphoreOperation,
  deleteLockOperation,
  expireLocksOperation,
  forceReleaseLockOperation,
  releaseLockOperation,
  setLockValueOperation,
  updateSemaphoreOperation,
} from "./locks/index.ts";
import {
  allocateMemoryOperation,
  eraseMemoryOperation,
  freeMemoryOperation,
  resizeMemoryOperation,
  writeMemoryOperation,
} from "./memory/index.ts";

import { deleteNamespaceOperation, eraseNamespacesOperation } from "./namespaces/index.ts";
import { endSessionOperation, expireSessionsOperation } from "./session-ends/index.ts";
import { createSessionOperation, renewSessionsOperation } from "./sessions/index.ts";
import { transactOperation } from "./transactions/index.ts";

const CLIENT_OPERATIONS = [
  createNamespaceOperation,
  deleteNamespaceOperation,
  putKeyOperation,
  deleteKeyOperation,
  compareAndSwapOperation,
  touchKeyOperation,
  createLockOperation,
  acquireLockOperation,
  releaseLockOperation,
  forceReleaseLockOperation,
  deleteLockOperation,
  createSemaphoreOperation,
  updateSemaphoreOperation,
  setLockValueOperation,
  allocateMemoryOperation,
  resizeMemoryOperation,
  freeMemoryOperation,
  writeMemoryOperation,
  createLogOperation,
  updateLogSettingsOperation,
  deleteLogOperation,
  appendEventsOperation,
  createApiKeyOperation,
  revokeApiKeyOperation,
  createUserOperation,
  updateUserOperation,
  deleteUserOperation,
  transactOperation,
  createSessionOperation,
  endSessionOperation,
] as const;

const CLUSTER_OPERATIONS = [
  expireKeysOperation,
  tickOperation,
  dropStoredAnswersOperation,
  claimSlotOperation,
  updateMemberOperation,
  checkDigestOperation,
  setClusterVersionOperation,
  expireLocksOperation,
  cancelAcquisitionOperation,
  eraseMemoryOperation,
  trimHistoryOperation,
  compactHistoryOperation,
  pruneEventKeysOperation,
  applyRetentionOperation,
  eraseLogsOperation,
  eraseNamespacesOperation,
  verifyUserOperation,
  reportUseOperation,
  putSettingsOperation,
  rotateSigningKeyOperation,
  dropSigningKeysOperation,
  pruneUsageOperation,
  resetOwnerOperation,
  renewSessionsOperation,
  expireSessionsOperation,
] as const;

export type ClientOperation = OperationOf<(typeof CLIENT_OPERATIONS)[number]>;
/** Operations that the cluster proposes itself: its leader, a member about itself, or a member for an administrator. */
export type ClusterOperation = OperationOf<(typeof CLUSTER_OPERATIONS)[number]>;
export type AnyOperation = ClientOperation | ClusterOperation;

/** The kind of an operation that is known only as one of its callers. */
type ClientKind = ClientOperationKind<ClientOperation>;
type ClusterKind = ClusterOperationKind<ClusterOperation>;
type AnyKind = ClientKind | ClusterKind;

// Each value takes the operations of its own kind, so an operation always goes to the value of its kind.
const OPERATIONS = [...CLIENT_OPERATIONS, ...CLUSTER_OPERATIONS] as unknown as readonly AnyKind[];
const BY_KIND: ReadonlyMap<string, AnyKind> = new Map(OPERATIONS.map((kind) => [kind.kind, kind]));
const BY_NUMBER: ReadonlyMap<number, AnyKind> = new Map(OPERATIONS.map((kind) => [kind.number, kind]));
invariant(BY_KIND.size === OPERATIONS.length, "each kind of operation has a name of its own");
invariant(BY_NUMBER.size === OPERATIONS.length, "each kind of operation has a number of its own");

/** Every kind of command. */
export const COMMAND_KINDS = OPERATIONS.map(({ kind }) => kind);

/** The answers that are stored for retries. */
export const ANSWERS = new AnswerForms([
  MEMBERSHIP_ANSWER,
  ...OPERATIONS.flatMap(({ answer }) => (answer === null ? [] : [answer])),
]);

/** The value that describes the operation. */
export function kindOf(operation: ClientOperation): ClientKind;
export function kindOf(operation: ClusterOperation): ClusterKind;
export function kindOf(operation: AnyOperation): AnyKind;
export function kindOf({ kind }: AnyOperation): AnyKind {
  return BY_KIND.get(kind) as AnyKind;
}

/** The same by its number in an entry; raises an InvariantViolation for a number that none has. */
export function kindOfNumber(number: number): AnyKind {
  const kind = BY_NUMBER.get(number);
  if (kind === undefined) {
    throw new InvariantViolation("commands have a known kind", String(number));
  }
  return kind;
}

/** All that the principal needs for the operation; null = only that they are valid. */
export function accessesOf(operation: ClientOperation, principal: Principal): readonly (RequiredAccess | null)[] {
  return kindOf(operation).accesses(operation, principal);
}

/** Returns how many rows, as far as the state shows now, apply needs for the operation more than for most operations. */
export function extraRowsOf(reader: StateReader, operation: ClientOperation): number {
  return kindOf(operation).rows(reader, operation);
}

/** The counts of a mutation, given its answer. */
export function usageOf(operation: ClientOperation, answer: Result | CoordinationError): UsageCounts {
  return answer instanceof CoordinationError ? ONE_REQUEST : kindOf(operation).usage(answer);
}
