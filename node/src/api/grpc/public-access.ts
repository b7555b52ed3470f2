/** Authenticates and authorises callers of the public port by their tokens, while the member serves its state. */

import type { Access, Caller } from "../../access/index.ts";
import type { RequiredAccess } from "../../state/index.ts";
import type { CallerAccess } from "../calls/index.ts";
import { type HostMember, noReplica } from "../methods/index.ts";

export class PublicAccess implements CallerAccess<Caller> {
  readonly #access: Pick<Access, "authenticate" | "authorize" | "recheck">;
  readonly #member: Pick<HostMember, "replica">;

  constructor(access: Pick<Access, "authenticate" | "authorize" | "recheck">, member: Pick<HostMember, "replica">) {
    this.#access = access;
    this.#member = member;
  }

  authenticate(authorization: readonly string[], deadlineMs: number): Caller | Promise<Caller> {
    this.#requireReplica();
    return this.#access.authenticate(authorization, deadlineMs);
  }

  authorize(caller: Caller, need: RequiredAccess | null, deadlineMs: number): undefined | Promise<void> {
    this.#requireReplica();
    return this.#access.authorize(caller, need, deadlineMs);
  }

  recheck(caller: Caller, need: RequiredAccess | null): void {
    this.#requireReplica();
    this.#access.recheck(caller, need);
  }

  /** Without the replicated state, no caller can be authenticated. */
  #requireReplica(): void {
    if (this.#member.replica === null) {
      throw noReplica();
    }
  }
}
