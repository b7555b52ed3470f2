/**
 * The members as this one knows them. It has three sources: the cluster record that it has applied, a list that another
 * member has sent, if that is newer, and new addresses that moved members announce until they are recorded.
 *
 * A member that lags behind may not have applied the entry that added the present leader, and could not answer it. The
 * list from another member solves that. Both the list and the record have a log index, so the newer one is known. A
 * member that has moved cannot have its address recorded before others dial it there, so they must use its
 * announcement.
 */

import type { PeerMember } from "../../peers/index.ts";
import { type Cluster, readCluster } from "../../state/index.ts";
import type { ReplicaStatus } from "../context/index.ts";
import type { Replica } from "../driver/index.ts";

/** Members as of the entry at an index. */
export interface MemberList {
  readonly members: readonly PeerMember[];
  readonly index: number;
}

/** The members that are known now. */
export interface Known {
  /** Members whose slots are claimed. */
  readonly members: readonly PeerMember[];
  /** Incarnation by id, "" for slots that are not claimed. */
  readonly incarnations: ReadonlyMap<number, string>;
}

/** The members as they were recorded when everything up to the index was applied. */
interface Record {
  readonly cluster: Cluster | undefined;
  readonly index: number;
  readonly known: Known;
}

interface DirectoryReplica extends Pick<Replica, "state" | "quorumKnownConfigIndex"> {
  status(): Pick<ReplicaStatus, "appliedIndex">;
}

export class PeerDirectory {
  readonly #replica: DirectoryReplica;
  #record: Record;
  /** Whether the record is durable here. Until `onRecordDurable` a power cut may undo it. */
  #isDurable = false;
  #received: { readonly index: number; readonly known: Known } | null = null;

  /** By member id: the address that the member has announced, and the one that was known before. */
  readonly #announcedMoves = new Map<number, { readonly from: string; readonly to: string }>();

  constructor(replica: DirectoryReplica) {
    this.#replica = replica;
    this.#record = this.#read();
  }

  /** The cluster as it is recorded; undefined before the founding entry is applied. */
  get cluster(): Cluster | undefined {
    return this.#record.cluster;
  }

  /**
   * The entry up to which the list of members is certain; 0 = none yet. As long as a majority may forget in a power cut
   * that the configuration is committed, the members that it removes may be needed to commit it again (P18).
   */
  get certainIndex(): number {
    const configIndex = this.#record.cluster?.configuration.index ?? Number.POSITIVE_INFINITY;
    return this.#isDurable && configIndex <= this.#replica.quorumKnownConfigIndex ? this.#record.index : 0;
  }

  /** The members as known now: the newer one of the record and another member's list. */
  get known(): Known {
    const received = this.#received;
    return received !== null && this.#record.index < received.index ? received.known : this.#record.known;
  }

  /** Incarnation of a member; "" if its slot is not known to be claimed, undefined if the member is not known. */
  incarnationOf(memberId: number): string | undefined {
    // Another member's list omits unclaimed slots.
    return this.known.incarnations.get(memberId) ?? this.#record.known.incarnations.get(memberId);
  }

  /**
   * Whether the id may belong to a member that this one cannot dial because it lags behind: an entry that is not known
   * here added or claimed the slot. If false and the id is not listed, the member was removed.
   */
  mayBeMember(memberId: number): boolean {
    const isListed = this.known.members.some((member) => member.memberId === memberId);
    return !isListed && (this.incarnationOf(memberId) === "" || memberId > this.certainIndex);
  }

  /**
   * Addresses to dial: the members that are known now, and those of the own record. Raft counts the votes of the
   * configuration that this member has applied. Without members whose removal it has not applied, it might never be
   * elected although no other member can be, nor learn of their removal (P18).
   */
  get dialed(): PeerMember[] {
    const { members } = this.known;
    const ids = new Set(members.map(({ memberId }) => memberId));
    const recorded = this.#record.known.members.filter(({ memberId }) => !ids.has(memberId));
    return [...members, ...recorded].map((member) => {
      const move = this.#announcedMoves.get(member.memberId);
      // A record that has changed since is newer than the announcement.
      return move?.from === member.address ? { ...member, address: move.to } : member;
    });
  }

  /** A member announces the address at which to dial it from now on. */
  move(memberId: number, address: string): void {
    const member = this.known.members.find((one) => one.memberId === memberId);
    if (member !== undefined) {
      this.#announcedMoves.set(memberId, { from: member.address, to: address });
    }
  }

  /** The record may have changed, and is durable. */
  onRecordDurable(): void {
    this.#record = this.#read();
    this.#isDurable = true;
  }

  /** Takes another member's list. An older one than the last changes nothing. */
  onMemberList({ members, index }: MemberList): void {
    if (index > (this.#received?.index ?? 0)) {
      const incarnations = new Map(members.map(({ memberId, incarnation }) => [memberId, incarnation]));
      this.#received = { index, known: { members, incarnations } };
    }
  }

  #read(): Record {
    const cluster = readCluster(this.#replica.state);
    const slots = cluster?.members ?? [];
    const incarnations = new Map(slots.map(({ id, incarnation }) => [id, incarnation.toHex()]));
    const index = this.#replica.status().appliedIndex;
    return { cluster, index, known: { members: claimedMembers(cluster), incarnations } };
  }
}

/** The members of a cluster whose slots are claimed, with the addresses at which others dial them. */
export function claimedMembers(cluster: Cluster | undefined): PeerMember[] {
  return (cluster?.members ?? [])
    .filter(({ incarnation }) => incarnation.length > 0)
    .map(({ id, incarnation, address }) => ({
      memberId: id,
      incarnation: incarnation.toHex(),
      address: address.peerEndpoint,
    }));
}
