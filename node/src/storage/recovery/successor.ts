/**
 * The offline succession of a cluster: the state of a former cluster becomes the state of a new cluster with one
 * member. It is the last step of a recovery and of a restore.
 */

import {
  CoordinationError,
  type MemberAddress,
  type Progress,
  type ResetOwner,
  readCluster,
  readFormerCluster,
  revisionJumpObjection,
  type StateReader,
  type Succession,
} from "../../state/index.ts";
import { crashPoint } from "../files/index.ts";
import { Refused } from "../identity/index.ts";
import type { OfflineState } from "../state/index.ts";
import { completeSuccessor } from "./successor-directory.ts";

/** Decisions about the new cluster, by a person or a program on their behalf. The caller generates the secrets. */
export interface SuccessorPlan
  extends Pick<Succession, "cause" | "clusterId" | "revisionJump" | "signingKey" | "pageTokenKey"> {
  /** Wall clock in milliseconds. */
  readonly wallMs: number;
  /** The user who becomes an active owner with this password and API key; null = users stay as they are. */
  readonly owner: ResetOwner | null;
}

/** The first member of the new cluster. */
export interface SuccessorMember {
  readonly clusterName: string;
  readonly name: string;
  /** 32 hexadecimal digits. */
  readonly incarnation: string;
  /** The address of the member, if it is known. The member updates it when it starts. */
  readonly address: MemberAddress;
}

/** The beginning of the new cluster. */
export interface StagedSuccessor {
  /** The state of the new cluster. */
  readonly progress: Progress;
  /** Id of the first member. */
  readonly memberId: number;
  /** The former cluster, and the revision of its state after all applied entries. */
  readonly formerClusterId: string;
  readonly formerRevision: number;
}

/**
 * Converts the state to the state of the new cluster, closes it, and completes the member's directory around it. On
 * return the decision is made; `placeSuccessor` puts the directory in place. Raises Refused or a CoordinationError,
 * having decided nothing, if the plan is not possible; a StoreError, or what the file system raises.
 *
 * @param last term of the former cluster's last entry, and the highest known term of the former cluster
 */
export async function stageSuccessor(
  directory: string,
  state: OfflineState,
  plan: SuccessorPlan,
  member: SuccessorMember,
  last: { readonly lastTerm: number; readonly term: number },
): Promise<StagedSuccessor> {
  const { wallMs, owner, ...decided } = plan;
  const { clusterName, name, incarnation, address } = member;
  const { appliedIndex, revision: formerRevision } = state.progress;
  const formerClusterId = requirePossible(state.reader, plan, formerRevision);
  const term = last.term + 1;
  const memberId = appliedIndex + 1;
  const outcome = state.succeed(
    {
      ...decided,
      clusterName,
      memberName: name,
      address,
      lastTerm: last.lastTerm,
      incarnation: Buffer.from(incarnation, "hex"),
    },
    { owner, term, wallMs },
  );
  if (outcome !== null && outcome.answer instanceof CoordinationError) {
    throw outcome.answer;
  }
  const { progress } = state;
  await state.close();
  crashPoint("successor.state.after");
  const lastIndex = progress.appliedIndex;
  await completeSuccessor(directory, {
    clusterId: plan.clusterId,
    clusterName,
    name,
    incarnation,
    memberId,
    lastIndex,
    term,
  });
  return { progress, memberId, formerClusterId, formerRevision };
}

/** Raises Refused. @returns the id of the former cluster */
function requirePossible(state: StateReader, { clusterId, revisionJump }: SuccessorPlan, revision: number): string {
  const former = readCluster(state);
  if (former === undefined) {
    throw new Refused("MEMBER_REFUSED", "the state belongs to no cluster. Use another member, or another backup");
  }
  if (clusterId === former.clusterId || readFormerCluster(state, clusterId) !== undefined) {
    throw new Refused(
      "MEMBER_REFUSED",
      `the id ${clusterId} belongs to the former cluster, or to one before it. The new cluster needs an id that no cluster ` +
        "had, so that the members of both can be distinguished. Name another id",
    );
  }
  const objection = revisionJumpObjection(revision, revisionJump);
  if (objection !== null) {
    throw new Refused("MEMBER_REFUSED", `the revision jump, ${revisionJump}, ${objection}`);
  }
  return former.clusterId;
}
