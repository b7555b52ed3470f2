/** A request as handlers and methods see it: its caller, client address and deadline. */

import type { Response } from "express";
import type { Access, Caller, RateLimiter } from "../../../access/index.ts";
import { clientOf } from "../../../peers/index.ts";
import { InvariantViolation, invariant } from "../../../primitives/index.ts";
import type { Principal, RequiredAccess } from "../../../state/index.ts";
import type { RequestTrace } from "../../../tracing/index.ts";
import type { CancellableCall, OpenCall } from "../../methods/index.ts";
import type { ClientAddresses } from "./client-addresses.ts";
import { traceOf } from "./request-observer.ts";

/** What all calls of the port share. */
export interface HttpCallContext {
  readonly access: Pick<Access, "authorize" | "recheck">;
  readonly limiter: RateLimiter;
  readonly clients: ClientAddresses;
}

export class HttpCall implements CancellableCall, OpenCall {
  readonly #access: Pick<Access, "authorize" | "recheck">;
  readonly #limiter: RateLimiter;
  readonly #clients: ClientAddresses;
  readonly #response: Response;
  /**
   * On the monotonic clock: the deadline of the answer, once the body has arrived; before that, of the earlier steps.
   */
  deadlineMs: number;
  /** The caller; undefined on routes that need no token. */
  caller: Caller | undefined;
  #onGone: (() => void) | undefined;
  #isGone = false;
  #client: string | undefined;
  /** What the caller was found to have: the steps of a request decide only once. */
  readonly #granted: RequiredAccess[] = [];

  constructor({ access, limiter, clients }: HttpCallContext, response: Response, deadlineMs: number) {
    this.#access = access;
    this.#limiter = limiter;
    this.#clients = clients;
    this.#response = response;
    this.deadlineMs = deadlineMs;
    response.once("close", () => {
      if (!response.writableEnded) {
        this.close();
      }
    });
  }

  get trace(): RequestTrace | null {
    return traceOf(this.#response.req);
  }

  get principal(): Principal {
    return this.authenticated().principal;
  }

  /** Returns the caller of a route that needs a token. */
  authenticated(): Caller {
    invariant(this.caller !== undefined, "only a route that needs a token uses the caller");
    return this.caller;
  }

  authorize(need: RequiredAccess | null): undefined | Promise<void> {
    const { trace } = this;
    if (trace !== null && need !== null && need.namespace !== null) {
      trace.namespace = need.namespace;
    }
    if (need !== null && this.#granted.some((one) => one.access === need.access && one.namespace === need.namespace)) {
      return undefined;
    }
    const pending = this.#access.authorize(this.authenticated(), need, this.deadlineMs);
    if (need === null) {
      return pending;
    }
    if (pending !== undefined) {
      return pending.then(() => void this.#granted.push(need));
    }
    this.#granted.push(need);
    return undefined;
  }

  recheck(need: RequiredAccess | null): void {
    this.#access.recheck(this.authenticated(), need);
  }

  charge(requests: number): void {
    this.#limiter.owe(this.principal.subject, requests);
  }

  /** HTTP requests have none. A client that wants to repeat an append safely sends an Idempotency-Key. */
  get hasRequestId(): boolean {
    return false;
  }

  requestId(): never {
    throw new InvariantViolation("HTTP requests have no request id");
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Whether the answer has a body: the answer to HEAD has none. */
  get wantsBody(): boolean {
    return this.#response.req.method !== "HEAD";
  }

  /** The client to which the source address of the request belongs. */
  get client(): string {
    this.#client ??= clientOf(this.#clients.of(this.#response.req));
    return this.#client;
  }

  onGone(listener: () => void): void {
    if (this.#isGone) {
      listener();
    } else {
      this.#onGone = listener;
    }
  }

  /** Notes that the client no longer waits for the answer. */
  close(): void {
    if (!this.#isGone) {
      this.#isGone = true;
      this.#onGone?.();
    }
  }
}
