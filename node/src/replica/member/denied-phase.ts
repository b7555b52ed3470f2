/**
 * A member whose data belongs to another cluster than the record outside of its data names: it serves nothing until the
 * record changes.
 */

import type { FoundingRecord } from "../../storage/index.ts";
import type { MemberContext, OwnData } from "./member-context.ts";
import type { MemberStatus } from "./member-status.ts";

/** Interval at which a member checks the record again, in milliseconds. */
const RECORD_INTERVAL_MS = 2_000;

export class DeniedPhase {
  readonly kind = "denied";
  readonly own: OwnData;
  readonly #context: MemberContext;
  readonly #record: FoundingRecord;
  readonly #onAllowed: () => void;
  readonly #cancel: () => void;
  #status: MemberStatus<"WRONG_CLUSTER">;

  /** `onAllowed` is called once, when the record does not object any more. */
  constructor(
    context: MemberContext,
    own: OwnData,
    denial: { readonly record: FoundingRecord; readonly objection: string; readonly onAllowed: () => void },
  ) {
    this.own = own;
    this.#context = context;
    this.#record = denial.record;
    this.#onAllowed = denial.onAllowed;
    this.#status = { state: "WRONG_CLUSTER", reason: denial.objection };
    this.#cancel = context.options.scheduler.every(RECORD_INTERVAL_MS, () => this.#check());
  }

  get status(): MemberStatus {
    return this.#status;
  }

  /** Does not check the record any more. */
  cancel(): void {
    this.#cancel();
  }

  #check(): void {
    const objection = this.#record.objectionTo(this.own.data.identity.clusterId);
    if (objection === null) {
      this.#cancel();
      this.#onAllowed();
      return;
    }
    this.#status = { state: "WRONG_CLUSTER", reason: objection };
    this.#context.statusLog.note(this.#status);
  }
}
