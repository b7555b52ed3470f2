/** A request as handlers and methods see it: who asks, from where, until when. */

import type { Response } from "express";
import type { Access, Caller } from "../../access/index.ts";
import { InvariantViolation, invariant } from "../../raft/index.ts";
import type { Need, Principal } from "../../state/index.ts";
import { clientOf } from "../connections/index.ts";
import type { CancellableCall } from "../methods/index.ts";
import type { ClientAddresses } from "./client-addresses.ts";

export class HttpCall implements CancellableCall {
  readonly #access: Pick<Access, "authorize" | "recheck">;
  readonly #clients: ClientAddresses;
  readonly #response: Response;
  /** On the monotonic clock; of the answer once the body is there, until then of what precedes it. */
  deadlineMs: number;
  /** Who asks; undefined on routes that are used without a token. */
  caller: Caller | undefined;
  #onGone: (() => void) | undefined;
  #isGone = false;
  #client: string | undefined;

  constructor(
    access: Pick<Access, "authorize" | "recheck">,
    clients: ClientAddresses,
    response: Response,
    deadlineMs: number,
  ) {
    this.#access = access;
    this.#clients = clients;
    this.#response = response;
    this.deadlineMs = deadlineMs;
    response.once("close", () => {
      if (!response.writableEnded) {
        this.leave();
      }
    });
  }

  get principal(): Principal {
    return this.authenticated().principal;
  }

  /** Who asks, where the route needs a token. */
  authenticated(): Caller {
    invariant(this.caller !== undefined, "only routes that need a token ask who sends it");
    return this.caller;
  }

  authorize(need: Need | null): undefined | Promise<void> {
    return this.#access.authorize(this.authenticated(), need, this.deadlineMs);
  }

  recheck(need: Need | null): void {
    this.#access.recheck(this.authenticated(), need);
  }

  /** Requests have none: whoever wants to repeat an append safely sends an Idempotency-Key. */
  get hasRequestId(): boolean {
    return false;
  }

  requestId(): never {
    throw new InvariantViolation("requests of HTTP have no request id");
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Whom the address belongs to that the request comes from. */
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

  /** Nobody waits for the answer any more. */
  leave(): void {
    if (!this.#isGone) {
      this.#isGone = true;
      this.#onGone?.();
    }
  }
}
