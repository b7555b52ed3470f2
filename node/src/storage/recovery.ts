/**
 * The recovery of a cluster that has lost its quorum: the data of one survivor becomes that of a new cluster's only member.
 *
 * The survivor's log is applied to its end: what it holds beyond the last entry that it knows committed may have been
 * acknowledged, and losing it would be worse than keeping a write that was never acknowledged.
 */

import { entryType, invariant, isConfigurationType } from "../raft/index.ts";
import { type MemberAddress, readCluster, type StateReader } from "../state/index.ts";
import { OfflineState } from "./offline-state.ts";
import { Refused } from "./refusal.ts";
import type { StoppedMember } from "./stopped-member.ts";
import { copyStore } from "./store-copy.ts";
import { type StagedSuccessor, type SuccessorPlan, stageSuccessor } from "./successor.ts";
import { beginSuccessor, mintIncarnation } from "./successor-directory.ts";

/**
 * Makes the data of the new cluster beside that of the stopped member, and decides for it; `placeSuccessor` puts it in
 * place once the member is closed. Raises Refused, having changed nothing, if the cluster needs no recovery or the state
 * is not that of its cluster; a StoreError, or what the file system raises.
 */
export async function stageRecovery(member: StoppedMember, plan: SuccessorPlan): Promise<StagedSuccessor> {
  const { directory, identity, facts } = member;
  const path = beginSuccessor(directory);
  copyStore(await member.releaseState(), path);
  const state = await OfflineState.open(path);
  try {
    for (const row of member.unapplied()) {
      state.apply(row);
    }
    requireSameState(member, state);
    requireOthers(member, state.reader);
    const { clusterName, name, memberId } = identity;
    const address = addressOf(state.reader, memberId);
    const successor = { clusterName, name, address, incarnation: mintIncarnation() };
    const staged = await stageSuccessor(directory, state, plan, successor, facts);
    invariant(staged.memberId === facts.lastIndex + 1, "the succession follows the last entry of the survivor");
    return staged;
  } finally {
    await state.close();
  }
}

/** A comparison of states that was among the last entries may show that the survivor's state is another one. */
function requireSameState({ directory }: StoppedMember, { divergence }: OfflineState): void {
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
