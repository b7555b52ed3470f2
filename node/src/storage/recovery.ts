/**
 * The recovery of a cluster that has lost its quorum: the data of one survivor becomes that of a new cluster's only member.
 *
 * The survivor's log is applied to its end: what it holds beyond the last entry that it knows committed may have been
 * acknowledged, and losing it would be worse than keeping a write that was never acknowledged.
 */

import { entryType, invariant, isConfigurationType } from "../raft/index.ts";
import { type MemberAddress, type Progress, readCluster, type StateReader } from "../state/index.ts";
import { crashPoint } from "./crash-point.ts";
import { openStateAt } from "./member-stores.ts";
import { Refused } from "./refusal.ts";
import type { StoppedMember } from "./stopped-member.ts";
import { copyStore } from "./store-copy.ts";
import { beginSuccessor, completeSuccessor, mintIncarnation } from "./successor-directory.ts";
import { type SuccessorPlan, SuccessorState } from "./successor-state.ts";

/** Where the log of a new cluster begins, and with which state. */
export interface StagedSuccessor {
  /** The state of the new cluster. */
  readonly progress: Progress;
  /** Revision of the former cluster's state, with all that the survivor holds. */
  readonly formerRevision: number;
}

/**
 * Makes the data of the new cluster beside that of the stopped member, and decides for it; `placeSuccessor` puts it in
 * place once the member is closed. Raises Refused, having changed nothing, if the cluster needs no recovery or the state
 * is not that of its cluster; a StoreError, or what the file system raises.
 */
export async function stageRecovery(member: StoppedMember, plan: SuccessorPlan): Promise<StagedSuccessor> {
  const { directory, identity, facts } = member;
  const path = beginSuccessor(directory);
  copyStore(await member.releaseState(), path);
  const rocks = await openStateAt(path, false);
  const term = facts.term + 1;
  const incarnation = mintIncarnation();
  let staged: StagedSuccessor;
  try {
    const state = new SuccessorState(rocks);
    for (const row of member.unapplied()) {
      state.apply(row);
    }
    requireSameState(member, state);
    requireOthers(member, state.reader);
    const { wallMs, ...decided } = plan;
    const { revision: formerRevision } = state.progress;
    const progress = state.succeed(
      {
        ...decided,
        clusterName: identity.clusterName,
        memberName: identity.name,
        incarnation: Buffer.from(incarnation, "hex"),
        address: addressOf(state.reader, identity.memberId),
        lastTerm: facts.lastTerm,
      },
      { term, wallMs },
    );
    staged = { progress, formerRevision };
  } finally {
    await rocks.close();
  }
  crashPoint("successor.state.after");
  const { clusterName, name } = identity;
  const memberId = staged.progress.appliedIndex;
  invariant(memberId === facts.lastIndex + 1, "the succession follows the last entry of the survivor");
  await completeSuccessor(directory, { clusterId: plan.clusterId, clusterName, name, incarnation, memberId, term });
  return staged;
}

/** A comparison of states that was among the last entries may show that the survivor's state is another one. */
function requireSameState({ directory }: StoppedMember, { divergence }: SuccessorState): void {
  if (divergence !== null) {
    throw new Refused(
      "MEMBER_REFUSED",
      `the state of ${directory} is not the one that its cluster had at entry ${divergence.index}. Nothing was changed; ` +
        "recover the cluster from another member",
    );
  }
}

/**
 * Refuses the only voter of a cluster before anything is made, and before a person is asked, where the applied state shows
 * it for certain. `stageRecovery` decides in every case. Raises Refused, or a StoreError.
 */
export function requireLostVoters(member: StoppedMember): void {
  for (const row of member.unapplied()) {
    if (isConfigurationType(entryType(row))) {
      return;
    }
  }
  requireOthers(member, member.state);
}

/** A cluster with this member as its only voter has its quorum. */
function requireOthers({ directory, identity }: StoppedMember, state: StateReader): void {
  const { voters = [], outgoing = [] } = readCluster(state)?.configuration ?? {};
  if (voters.length === 1 && voters[0] === identity.memberId && outgoing.length === 0) {
    throw new Refused(
      "MEMBER_REFUSED",
      `the member of ${directory} is the only voter of its cluster and its data is whole, so there is nothing to recover. ` +
        "Start the member",
    );
  }
}

/** The member says where it is when it starts; until then, where it was. */
function addressOf(state: StateReader, memberId: number): MemberAddress {
  const member = readCluster(state)?.members.find(({ id }) => id === memberId);
  return member?.address ?? { peerEndpoint: "", grpcEndpoint: "", httpEndpoint: "" };
}
