/**
 * GetMemberCounters: the state and the counters of all members, through any one of them. The answering member asks the
 * others over the connections between members. A member that does not answer is a part of the answer.
 *
 * Many consoles ask for the same, each at its own times. So calls for all members share an answer for a second, unless
 * the leader changes.
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
import { shareAnswer } from "./shared-answers.ts";

/** The access level `admin`, and a list of namespaces that contains "*" itself. */
const NEED: RequiredAccess = { access: "admin", namespace: "*" };
/** How long to wait for another member, in milliseconds. */
const MEMBER_MS_MAX = 1_000;
/** For how long calls share an answer, in milliseconds. A member takes a sample of its counters every five seconds. */
const SHARED_MS_MAX = 1_000;

/** A member whose counters are wanted. */
interface Wanted {
  readonly id: number;
  readonly name: string;
}

type Collected = (response: GetMemberCountersResponse) => void;

/** An answer for all members. */
interface SharedCounters {
  readonly windowSeconds: number;
  /** The leader and its term, as this member knew them. */
  readonly leadership: string;
  readonly untilMs: number;
  /** Null until all members have answered. */
  response: GetMemberCountersResponse | null;
  /** Called with the response. */
  readonly waiting: Collected[];
}

export class MemberCountersMethod {
  readonly #member: HostMember;
  readonly #inspection: MemberInspection;
  readonly #clock: Pick<Clock, "monotonicMs">;
  #shared: SharedCounters | null = null;

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
      const collected: Collected = (response) => reply(response, "no");
      if (request.ids.length === 0) {
        this.#share(wanted, windowSeconds, collected);
      } else {
        const deadlineMs = Math.min(call.deadlineMs, this.#clock.monotonicMs() + MEMBER_MS_MAX);
        this.#collect(wanted, windowSeconds, deadlineMs, collected);
      }
    };
    authorized(call, NEED, collect, reply);
  }

  /** Passes on an answer of the last second, or collects one for this call and those that follow. */
  #share(wanted: readonly Wanted[], windowSeconds: number, collected: Collected): void {
    const nowMs = this.#clock.monotonicMs();
    const { leaderId = 0, term = 0 } = this.#member.replica?.status() ?? {};
    const leadership = `${leaderId} ${term}`;
    const last = this.#shared;
    if (last?.windowSeconds === windowSeconds && last.leadership === leadership && nowMs < last.untilMs) {
      if (last.response === null) {
        last.waiting.push(collected);
      } else {
        collected(last.response);
      }
      return;
    }
    const untilMs = nowMs + SHARED_MS_MAX;
    const shared: SharedCounters = { windowSeconds, leadership, untilMs, response: null, waiting: [collected] };
    this.#shared = shared;
    // Not until the deadline of this call, because others wait for the same answer.
    this.#collect(wanted, windowSeconds, nowMs + MEMBER_MS_MAX, (response) => {
      shareAnswer(response);
      shared.response = response;
      for (const waiting of shared.waiting.splice(0)) {
        waiting(response);
      }
    });
  }

  #collect(wanted: readonly Wanted[], windowSeconds: number, deadlineMs: number, collected: Collected): void {
    const members: MemberCounters[] = [];
    let missing = wanted.length;
    wanted.forEach((one, at) => {
      this.#countersOf(one, windowSeconds, deadlineMs, (counters) => {
        members[at] = counters;
        missing--;
        if (missing === 0) {
          collected({ members, answeredBy: memberIdText(this.#member.memberId) });
        }
      });
    });
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
    const finish = (counters: MemberCounters | Error): void =>
      done(
        counters instanceof Error
          ? MemberCounters.fromPartial({ id: memberIdText(id), name, problem: counters.message })
          : { ...counters, id: memberIdText(id), name },
      );
    if (id === this.#member.memberId) {
      finish(attempt(() => this.#inspection.counters(windowSeconds)));
      return;
    }
    // Without a replica, this member knows only itself.
    const replica = this.#member.replica as HostReplica;
    replica.memberCalls.ask(id, countersQuestion(windowSeconds), deadlineMs, (error, answer) =>
      finish(error ?? attempt(() => countersAnswer(answer as Uint8Array))),
    );
  }
}
