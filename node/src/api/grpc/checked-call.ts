/**
 * What every call of a port has in common, however it is answered: the first checks of the contract in their order (1
 * token, 2 api-version, 3 request-id), who calls, what they may do, and what makes a retry recognisable.
 */

import { createHash } from "node:crypto";
import type { Metadata } from "@grpc/grpc-js";
import type { RateLimiter } from "../../access/index.ts";
import { invariant } from "../../raft/index.ts";
import type { Clock } from "../../replica/index.ts";
import type { CoordinationError, Need, Principal, RequestIdentity } from "../../state/index.ts";
import { type Call, toError } from "../methods/index.ts";
import type { CallerAccess } from "./caller-access.ts";
import type { ErrorLog } from "./error-log.ts";
import { requestId, requestIdBytes, requireApiVersion, requireRequestId } from "./metadata-contract.ts";

/** What all calls of a port share. */
export interface PortContext<Caller extends { readonly principal: Principal }> {
  readonly access: CallerAccess<Caller>;
  readonly requestId: "required" | "optional";
  /** Who has called how often; null where nobody is limited. */
  readonly limiter: RateLimiter | null;
  readonly clock: Clock;
  readonly logger: ErrorLog;
  /** host:port of the leader's gRPC port, or null if none is known. */
  leaderEndpoint(): string | null;
}

/** A call as it has come. */
interface IncomingCall {
  readonly metadata: Metadata;
  readonly request: Buffer;
}

export abstract class CheckedCall<Caller extends { readonly principal: Principal }> implements Call {
  protected readonly port: PortContext<Caller>;
  readonly #path: string;
  readonly #call: IncomingCall;
  #caller: Caller | undefined;
  #requestId: string | undefined;

  /** @param path full name of the method. */
  constructor(port: PortContext<Caller>, path: string, call: IncomingCall) {
    this.port = port;
    this.#path = path;
    this.#call = call;
  }

  abstract get deadlineMs(): number;

  get principal(): Principal {
    return this.#authenticated().principal;
  }

  authorize(need: Need | null): undefined | Promise<void> {
    return this.port.access.authorize(this.#authenticated(), need, this.deadlineMs);
  }

  recheck(need: Need | null): void {
    this.port.access.recheck(this.#authenticated(), need);
  }

  get hasRequestId(): boolean {
    return this.#requestId !== undefined;
  }

  identity(): RequestIdentity {
    invariant(this.#requestId !== undefined, "a mutation that is to be recognised has a request id");
    // The path ends at the first NUL, so no two methods and requests have the same bytes.
    const payloadHash = createHash("sha256").update(`${this.#path}\0`).update(this.#call.request).digest();
    return { requestId: requestIdBytes(this.#requestId), payloadHash };
  }

  /** Whether nobody waits for an answer any more. */
  protected abstract get isLeft(): boolean;
  /** Gives up what it holds for an answer that nobody waits for. */
  protected abstract letGo(): void;
  /** The first checks are passed: does the others, and what was asked for. What it throws is answered. */
  protected abstract proceed(): void;
  /** Answers with the refusal, or with what is a bug. */
  protected abstract fail(error: CoordinationError | Error): void;

  /** Runs the first checks and goes on, at once or once it is known who calls, unless nobody waits any more then. */
  protected check(): void {
    try {
      const authorization = this.#call.metadata.get("authorization").map(String);
      const caller = this.port.access.authenticate(authorization, this.deadlineMs);
      if (caller instanceof Promise) {
        caller.then((known) => this.#resume(known)).catch((error: unknown) => this.fail(toError(error)));
      } else {
        this.#proceed(caller);
      }
    } catch (error) {
      this.fail(toError(error));
    }
  }

  /** For the operator's log: the method and the request id, never what was in the request. */
  protected report(error: Error): void {
    const fields = { err: error, method: this.#path, requestId: this.#requestId };
    this.port.logger.error(fields, "a request failed because of a bug");
  }

  #resume(caller: Caller): void {
    if (this.isLeft) {
      this.letGo();
    } else {
      this.#proceed(caller);
    }
  }

  #proceed(caller: Caller): void {
    this.#caller = caller;
    const { metadata } = this.#call;
    requireApiVersion(metadata);
    this.#requestId = this.port.requestId === "required" ? requireRequestId(metadata) : requestId(metadata);
    this.proceed();
  }

  #authenticated(): Caller {
    invariant(this.#caller !== undefined, "methods are called for authenticated callers only");
    return this.#caller;
  }
}
