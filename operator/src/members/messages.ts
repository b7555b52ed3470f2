/** What members answer, as the planner takes it. */
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

/** A report that is not bound to a pod yet, and what tells whom to ask further. */
export interface MemberAnswer {
  readonly report: Omit<MemberReport, "podUid">;
  readonly leads: boolean;
  readonly term: number;
}

/** Raises MemberError for an answer without a status. */
export function memberAnswerOf({ status, known }: GetStatusResponse): MemberAnswer {
  if (status === undefined) {
    throw new MemberError("INTERNAL", "", "the answer has no status");
  }
  return {
    leads: status.role === MemberRole.LEADER,
    term: Number(status.term),
    report: {
      // States are named here as they are in the contract; one that is not known counts as none of them.
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
    // An empty one is nobody's.
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
