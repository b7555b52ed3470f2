/**
 * GetMemberCounters: the state and the counters of all members, through any one of them. The answering member asks the
 * others over the connections between members. A member that does not answer is a part of the answer.
 */

import { type GetMemberCountersRequest, type GetMemberCountersResponse, MemberCounters } from "@quoin/proto";
import type { Clock } from "../../replica/index.ts";
import { CoordinationError, type RequiredAccess, readCluster } from "../../state/index.ts";
import { attempt } from "./attempt.ts";
import type { Call, Reply } from "./call.ts";
import { authorized } from "./executor.ts";
import { memberIdsField, windowSecondsField } from "./field-rules.ts";
import type { HostMember, HostReplica } from "./host.ts";
import { countersAnswer, countersQuestion, type MemberInspection } from "./member-inspection.ts";
import { memberIdText } from "./member-messages.ts";

/** The access level `admin`, and a list of namespaces that contains "*" itself. */
const NEED: RequiredAccess = { access: "admin", namespace: "*" };
/** How long to wait for another member, in milliseconds. */
const MEMBER_MS_MAX = 1_000;

/** A member whose counters are wanted. */
interface Wanted {
  readonly id: number;
  readonly name: string;
}

export class MemberCountersMethod {
  readonly #member: HostMember;
  readonly #inspection: MemberInspection;
  readonly #clock: Pick<Clock, "monotonicMs">;

  constructor(member: HostMember, inspection: MemberInspection, clock: Pick<Clock, "monotonicMs">) {
    this.#member = member;
    this.#inspection = inspection;
    this.#clock = clock;
  }

  getMemberCounters(call: Call, request: GetMemberCountersRequest, reply: Reply<GetMemberCountersResponse>): void {
    const collect = (): void => {
      const asked = attempt(() => ({
        wanted: this.#wanted(request.ids),
        windowSeconds: windowSecondsField(request.windowSeconds),
      }));
      if (asked instanceof Error) {
        reply(asked, "no");
        return;
      }
      const { wanted, windowSeconds } = asked;
      const deadlineMs = Math.min(call.deadlineMs, this.#clock.monotonicMs() + MEMBER_MS_MAX);
      const members: MemberCounters[] = [];
      let missing = wanted.length;
      wanted.forEach((one, at) => {
        this.#countersOf(one, windowSeconds, deadlineMs, (counters) => {
          members[at] = counters;
          missing--;
          if (missing === 0) {
            reply({ members, answeredBy: memberIdText(this.#member.memberId) }, "no");
          }
        });
      });
    };
    authorized(call, NEED, collect, reply);
  }

  /** Throws MEMBER_NOT_FOUND for an id that no member has, as far as this one has applied. */
  #wanted(ids: readonly string[]): readonly Wanted[] {
    const { memberId, name, replica } = this.#member;
    const members: readonly Wanted[] = (replica === null ? undefined : readCluster(replica.state)?.members) ?? [
      { id: memberId, name },
    ];
    if (ids.length === 0) {
      return members;
    }
    return memberIdsField(ids).map((id) => {
      const found = members.find((one) => one.id === id);
      if (found === undefined) {
        throw new CoordinationError("MEMBER_NOT_FOUND", `there is no member with id ${id}`);
      }
      return found;
    });
  }

  #countersOf(
    { id, name }: Wanted,
    windowSeconds: number,
    deadlineMs: number,
    done: (counters: MemberCounters) => void,
  ): void {
    if (id === this.#member.memberId) {
      done(this.#inspection.counters(windowSeconds));
      return;
    }
    // Without a replica, this member knows only itself.
    const replica = this.#member.replica as HostReplica;
    replica.memberCalls.ask(id, countersQuestion(windowSeconds), deadlineMs, (error, answer) => {
      const counters = error ?? attempt(() => countersAnswer(answer as Uint8Array));
      done(
        counters instanceof Error
          ? MemberCounters.fromPartial({ id: String(id), name, problem: counters.message })
          : { ...counters, id: String(id), name },
      );
    });
  }
}
