/**
 * The recovery of a cluster that has lost its quorum: the data of one survivor becomes the data of a new cluster's only
 * member.
 *
 * The survivor's log is applied to its end. Entries beyond its last known commit may have been acknowledged, and losing
 * them would be worse than keeping a write that was never acknowledged.
 */

import { invariant } from "../../primitives/index.ts";
import { entryType, isConfigurationType } from "../../raft/index.ts";
import { type MemberAddress, readCluster, type StateReader } from "../../state/index.ts";
import { Refused } from "../identity/index.ts";
import { OfflineState } from "../state/index.ts";
import type { StoppedMember } from "./stopped-member.ts";
import { copyStore } from "./store-copy.ts";
import { type StagedSuccessor, type SuccessorPlan, stageSuccessor } from "./successor.ts";
import { beginSuccessor, mintIncarnation } from "./successor-directory.ts";

/**
 * Creates the data of the new cluster beside the data of the stopped member. On return the decision is made:
 * `placeSuccessor` puts the data in place once the member is closed. Raises Refused, having changed nothing, if the
 * cluster needs no recovery or the state differs from its cluster's. Raises a StoreError, or what the file system
 * raises.
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

/**
 * Raises Refused if a digest check among the last entries shows that the survivor's state differs from the cluster's.
 */
function requireSameState({ directory }: StoppedMember, { divergence }: OfflineState): void {
  if (divergence !== null) {
    throw new Refused(
      "MEMBER_REFUSED",
      `the state of ${directory} differs from its cluster's at entry ${divergence.index}. Nothing was changed; ` +
        "recover the cluster from another member",
    );
  }
}

/**
 * Refuses the only voter of a cluster early, before any change and before a person has to confirm, if the applied state
 * is sufficient to know it. `stageRecovery` checks every case. Raises Refused, or a StoreError.
 */
export function requireLostVoters(member: StoppedMember): void {
  for (const row of member.unapplied()) {
    if (isConfigurationType(entryType(row))) {
      return;
    }
  }
  requireOthers(member, member.state);
}

/** Raises Refused if this member is the only voter: its cluster has its quorum. */
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

/** The last recorded address. The member updates it when it starts. */
function addressOf(state: StateReader, memberId: number): MemberAddress {
  const member = readCluster(state)?.members.find(({ id }) => id === memberId);
  return member?.address ?? { peerEndpoint: "", grpcEndpoint: "", httpEndpoint: "" };
}
