/**
 * ClusterAdminService.ResetOwner: gives the owner of a cluster a new password and, on request, an API key. It creates
 * the owner if there is none.
 *
 * It belongs on the admin port only, behind the admin token. An administrator on the public port is a user, and no user
 * may make themselves the owner.
 */

import { createHash, randomUUID } from "node:crypto";
import type { ResetOwnerRequest, ResetOwnerResponse } from "@quoin/proto";
import { type Derive, type OwnerCredentials, ownerCredentials, saltOf } from "../../access/index.ts";
import {
  badRequestField,
  type RequestIdentity,
  type RequiredAccess,
  type ResetOwnerResult,
} from "../../state/index.ts";
import { toError } from "./attempt.ts";
import type { Call, Reply } from "./call.ts";
import { type Executor, replyOutcome } from "./executor.ts";
import type { HostReplica } from "./host.ts";

const NEED: RequiredAccess = { access: "admin", namespace: "*" };

/** The log that records a reset, such as a pino logger. */
export interface AuditLog {
  info(fields: object, message: string): void;
}

export class OwnerResetMethod {
  readonly #executor: Executor;
  readonly #audit: AuditLog;
  readonly #derive: Derive | undefined;

  /** @param derive hashes the password; in the thread pool by default. */
  constructor(executor: Executor, audit: AuditLog, derive?: Derive | undefined) {
    this.#executor = executor;
    this.#audit = audit;
    this.#derive = derive;
  }

  /** Takes about as long as hashing the password. */
  resetOwner(call: Call, request: ResetOwnerRequest, reply: Reply<ResetOwnerResponse>): void {
    const { owner } = request;
    const response = ({ userId, created }: ResetOwnerResult): ResetOwnerResponse => {
      this.#audit.info({ audit: "reset-owner", userId, created, by: call.principal.subject }, "the owner was reset");
      return { userId, created };
    };
    const propose = (replica: HostReplica, credentials: OwnerCredentials): void => {
      const { subject } = call.principal;
      const operation = {
        kind: "reset-owner",
        userId: randomUUID(),
        ...credentials,
        subject,
        request: call.hasRequestId ? identityOf(call.requestId(), credentials) : null,
      } as const;
      replica.proposeClusterOperation(operation, call.deadlineMs, (error, outcome) => {
        replyOutcome(error, outcome, "reset-owner", response, reply);
      });
    };
    const prepare = (): NonNullable<typeof owner> => {
      if (owner === undefined) {
        throw badRequestField("owner", "is required");
      }
      return owner;
    };
    const proceed = (replica: HostReplica, asked: NonNullable<typeof owner>): void => {
      const salt = call.hasRequestId ? saltOf("ResetOwner", call.requestId()) : undefined;
      ownerCredentials(asked, { derive: this.#derive, salt })
        .then((credentials) => propose(replica, credentials))
        .catch((error: unknown) => reply(toError(error), "no"));
    };
    this.#executor.administer(call, NEED, prepare, proceed, reply);
  }
}

/** A retry has the same address, password and API key. */
function identityOf(requestId: Uint8Array, { email, passwordHash, apiKey }: OwnerCredentials): RequestIdentity {
  const hash = createHash("sha256").update(`ResetOwner\0${email}\0${passwordHash}\0`);
  if (apiKey !== null) {
    hash.update(apiKey.sha256);
  }
  return { requestId, payloadHash: hash.digest() };
}
