/** The status and the counters of members in the form of the SDK: enums by name, and counts as numbers. */

import {
  type CounterSample as CounterSampleMessage,
  enumName,
  type MemberCounters as MemberCountersMessage,
  MemberRole,
  type MemberStatus as MemberStatusMessage,
  RequestCounts_Kind,
  type RequestCounts as RequestCountsMessage,
} from "@quoin/proto";
import { type CallOptions, type Plain, toPlain } from "../calls/index.ts";

/** The status of one member, by its own report. */
export type MemberStatus = Omit<Plain<MemberStatusMessage>, "state" | "role"> & {
  /** The state of its process, such as `RUNNING`; a decimal number if this client is too old to know it. */
  state: string;
  /** Its role in Raft, such as `LEADER`; a decimal number if this client is too old to know it. */
  role: string;
};

/** The requests of one kind that ended in an interval. */
export type RequestCounts = Omit<Plain<RequestCountsMessage>, "kind"> & {
  /** What they are about; a decimal number if this client is too old to know it. */
  readonly kind: "KEY_READ" | "KEY_WRITE" | "LOCK" | "MEMORY" | "EVENT_LOG" | "OTHER" | (string & {});
};

/** A member's counters over one interval. */
export type CounterSample = Omit<Plain<CounterSampleMessage>, "role" | "requests"> & {
  /** Its role in Raft, such as `LEADER`; a decimal number if this client is too old to know it. */
  readonly role: string;
  readonly requests: readonly RequestCounts[];
};

/** The state of a member, and its counters of the last minutes. */
export interface MemberCounters {
  readonly id: string;
  readonly name: string;
  /** Why it did not answer, for people; empty = it did. */
  readonly problem: string;
  /** Undefined if it did not answer. */
  readonly status: MemberStatus | undefined;
  /** The oldest first. */
  readonly samples: readonly CounterSample[];
}

/** Answer of memberCounters. */
export interface MemberCountersResult {
  /** In the order of `ids`, or of the membership. */
  readonly members: readonly MemberCounters[];
  /** Id of the member that answered; empty = it has not joined. */
  readonly answeredBy: string;
}

/** Options of memberCounters. */
export interface MemberCountersOptions extends CallOptions {
  /** Ids of members. Default: all members. */
  readonly ids?: readonly string[] | undefined;
  /** How far back the counters go, in seconds, 1 to 900. Default 900. */
  readonly windowSeconds?: number | undefined;
}

/** @param statusOf converts the status of a member. */
export function memberCounters(
  { id, name, problem, status, samples }: MemberCountersMessage,
  statusOf: (status: NonNullable<MemberCountersMessage["status"]>) => MemberStatus,
): MemberCounters {
  return {
    id,
    name,
    problem,
    status: status === undefined ? undefined : statusOf(status),
    samples: samples.map(counterSample),
  };
}

function counterSample(sample: CounterSampleMessage): CounterSample {
  return {
    ...toPlain(sample),
    role: enumName(MemberRole, sample.role),
    requests: sample.requests.map((counts) => ({
      ...toPlain(counts),
      kind: enumName(RequestCounts_Kind, counts.kind),
    })),
  };
}
