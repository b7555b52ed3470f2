/**
 * Who the members are, as this one knows it: by the cluster record that it has applied, or by what another member has
 * told, as long as that is newer; and where one of them is that has moved, by its own word, until it is recorded.
 *
 * A member that lags behind may not have applied the entry that added the one who leads now, and could not answer it;
 * another member's word bridges that. Ids are indexes of the log, so a word with an index is comparable with the record.
 * And a member that has moved could not have it recorded, for it hears nobody until it is dialed where it is.
 */

import type { PeerMember } from "../peers/index.ts";
import { type Cluster, readCluster } from "../state/index.ts";
import type { Replica } from "./replica.ts";
import type { ReplicaStatus } from "./replica-options.ts";

/** Members as of the entry of an index. */
export interface Told {
  readonly members: readonly PeerMember[];
  readonly index: number;
}

/** Members by what is known now. */
export interface Known {
  /** Those whose slots are claimed. */
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

interface DirectoryReplica extends Pick<Replica, "state" | "lastingConfigIndex"> {
  status(): Pick<ReplicaStatus, "appliedIndex">;
}

export class PeerDirectory {
  readonly #replica: DirectoryReplica;
  #record: Record;
  /** Whether the record is durable here; before the first word about it, it may be taken back by a power cut. */
  #isDurable = false;
  #told: { readonly index: number; readonly known: Known } | null = null;

  /** Addresses that members have told themselves, and those that were known then, by id. */
  readonly #moves = new Map<number, { readonly from: string; readonly to: string }>();

  constructor(replica: DirectoryReplica) {
    this.#replica = replica;
    this.#record = this.#read();
  }

  /** The cluster as it is recorded; undefined before the founding entry is applied. */
  get cluster(): Cluster | undefined {
    return this.#record.cluster;
  }

  /**
   * Up to which entry it is certain who is a member; 0 = nothing is yet. As long as a majority may forget in a power cut
   * that the configuration is committed, those whom it has removed may be needed to commit it anew (P18).
   */
  get certainIndex(): number {
    const configIndex = this.#record.cluster?.configuration.index ?? Number.POSITIVE_INFINITY;
    return this.#isDurable && configIndex <= this.#replica.lastingConfigIndex ? this.#record.index : 0;
  }

  /** What is known now: of the record and another member's word the newer one. */
  get known(): Known {
    const told = this.#told;
    return told !== null && this.#record.index < told.index ? told.known : this.#record.known;
  }

  /** Incarnation of a member, "" if its slot is not claimed as far as known, undefined if it is not known as one. */
  incarnationOf(memberId: number): string | undefined {
    // Another member's word leaves slots out that are not claimed.
    return this.known.incarnations.get(memberId) ?? this.#record.known.incarnations.get(memberId);
  }

  /**
   * Whether the id may be that of a member whom this one cannot dial, because it lags behind: the slot was added, or
   * claimed, by an entry that is not known here. Who is not listed otherwise was removed.
   */
  mayBeMember(memberId: number): boolean {
    const isListed = this.known.members.some((member) => member.memberId === memberId);
    return !isListed && (this.incarnationOf(memberId) === "" || memberId > this.certainIndex);
  }

  /**
   * Where to dial the members: those that are known now, and those of the own record. Raft counts the votes of the
   * configuration that this member has applied: without those whom it has not seen removed yet it might never be elected,
   * nor hear from them that they were, though nobody else can be (P18).
   */
  get dialed(): PeerMember[] {
    const { members } = this.known;
    const ids = new Set(members.map(({ memberId }) => memberId));
    const recorded = this.#record.known.members.filter(({ memberId }) => !ids.has(memberId));
    return [...members, ...recorded].map((member) => {
      const move = this.#moves.get(member.memberId);
      // A record that has changed since is newer than that word.
      return move?.from === member.address ? { ...member, address: move.to } : member;
    });
  }

  /** A member says itself where it is dialed from now on. */
  move(memberId: number, address: string): void {
    const member = this.known.members.find((one) => one.memberId === memberId);
    if (member !== undefined) {
      this.#moves.set(memberId, { from: member.address, to: address });
    }
  }

  /** The record may have changed, and is durable as it is now. */
  onRecordDurable(): void {
    this.#record = this.#read();
    this.#isDurable = true;
  }

  /** Takes another member's word. An older one than the last changes nothing. */
  learn({ members, index }: Told): void {
    if (index > (this.#told?.index ?? 0)) {
      const incarnations = new Map(members.map(({ memberId, incarnation }) => [memberId, incarnation]));
      this.#told = { index, known: { members, incarnations } };
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

/** The members of a cluster whose slots are claimed, as others dial them. */
export function claimedMembers(cluster: Cluster | undefined): PeerMember[] {
  return (cluster?.members ?? [])
    .filter(({ incarnation }) => incarnation.length > 0)
    .map(({ id, incarnation, address }) => ({
      memberId: id,
      incarnation: incarnation.toHex(),
      address: address.peerEndpoint,
    }));
}
