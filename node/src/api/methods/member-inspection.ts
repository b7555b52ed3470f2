/**
 * What one member knows about itself: its state, its counters of the last minutes, and its open streams. It answers
 * callers at this member, and questions of other members, whose callers have been authorised there.
 *
 * A question between members is one byte for its kind, and the request of the contract that it is about.
 */

import { type CounterSample, GetMemberCountersRequest, MemberCounters } from "@quoin/proto";
import { readSettings } from "../../state/index.ts";
import type { HostMember } from "./host.ts";
import { memberIdText, memberStatus } from "./member-messages.ts";

/** The samples of this member's counters. */
export interface CounterSource {
  /** The samples of the last milliseconds, the oldest first. */
  samplesOf(windowMs: number): readonly CounterSample[];
}

/** The kinds of questions; the numbers are on the wire between members and final. */
const COUNTERS = 1;
const MS_PER_SECOND = 1_000;

export class MemberInspection {
  readonly #member: HostMember;
  readonly #counters: CounterSource;

  constructor(member: HostMember, counters: CounterSource) {
    this.#member = member;
    this.#counters = counters;
  }

  /** State and counters of this member. Local: it needs no majority. */
  counters(windowSeconds: number): MemberCounters {
    const { replica } = this.#member;
    const settingsRevision = replica === null ? 0 : readSettings(replica.state).revision;
    return {
      id: memberIdText(this.#member.memberId),
      name: this.#member.name,
      problem: "",
      status: memberStatus(this.#member, replica?.status(), settingsRevision),
      samples: [...this.#counters.samplesOf(windowSeconds * MS_PER_SECOND)],
    };
  }

  /** Answers a question of another member; null = this release does not know it. */
  answer(question: Uint8Array): Uint8Array | null {
    const request = question.subarray(1);
    switch (question[0]) {
      case COUNTERS: {
        const { windowSeconds } = GetMemberCountersRequest.decode(request);
        return MemberCounters.encode(this.counters(windowSeconds)).finish();
      }
      default:
        return null;
    }
  }
}

/** The question for `counters` of another member, and its answer. */
export function countersQuestion(windowSeconds: number): Uint8Array {
  return question(COUNTERS, GetMemberCountersRequest.encode({ ids: [], windowSeconds }).finish());
}

export function countersAnswer(answer: Uint8Array): MemberCounters {
  return MemberCounters.decode(answer);
}

function question(kind: number, request: Uint8Array): Uint8Array {
  return Uint8Array.of(kind, ...request);
}
