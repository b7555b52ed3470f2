/** Translates members' answers for the planner. */
import {
  enumName,
  type GetStatusResponse,
  type ListMembersResponse,
  MemberRole,
  type MemberSlot,
  MemberState as MemberStateNumber,
} from "@quoin/proto";
import type { Configuration, MemberReport, MemberState, Slot } from "../plan/index.ts";
import { MemberError } from "./member-error.ts";

/** A report that is not bound to a pod yet; leadership and term show which member to call next. */
export interface MemberAnswer {
  readonly report: Omit<MemberReport, "podUid">;
  readonly leads: boolean;
  readonly term: number;
}

/** @throws MemberError for an answer without a status */
export function memberAnswerOf({ status, known }: GetStatusResponse): MemberAnswer {
  if (status === undefined) {
    throw new MemberError("INTERNAL", "", "the answer has no status");
  }
  return {
    leads: status.role === MemberRole.LEADER,
    term: Number(status.term),
    report: {
      // State names are those of the contract; an unknown state matches none of them.
      state: enumName(MemberStateNumber, status.state) as MemberState,
      stateForMs: Number(status.stateForMs),
      incarnation: status.incarnation,
      version: status.version,
      downgradeFloor: status.downgradeFloor,
      certificateSerial: status.certificateSerial,
      trustedCas: status.trustedCas,
      settingsRevision: Number(status.settingsRevision),
      alarms: status.alarms,
      foundedFrom: status.foundedFrom,
      ...(status.clusterId === "" ? {} : { clusterId: status.clusterId }),
      ...(status.id === "" ? {} : { memberId: Number(status.id) }),
      ...(known === undefined ? {} : { configuration: configurationOf(known) }),
    },
  };
}

export function configurationOf(answer: ListMembersResponse): Configuration {
  return {
    term: Number(answer.term),
    index: Number(answer.configIndex),
    commitIndex: Number(answer.commitIndex),
    changing: answer.changing,
    // An empty id becomes 0: there is no leader.
    leaderId: Number(answer.leaderId),
    members: answer.members.map(slotOf),
  };
}

function slotOf({ id, name, voter, incarnation, lagMs, contactAgeMs, promotable }: MemberSlot): Slot {
  return {
    id: Number(id),
    name,
    voter,
    lagMs: Number(lagMs),
    contactAgeMs: Number(contactAgeMs),
    promotable,
    ...(incarnation === "" ? {} : { incarnation }),
  };
}
