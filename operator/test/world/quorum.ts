/**
 * The state on which the members of one cluster agree, as one record: the members, the leader, and the checks by which
 * a leader refuses changes. Time and failures come from outside.
 */

/** A refusal as it is sent over the wire. */
export class MemberRefusal extends Error {
  readonly code:
    | "FAILED_PRECONDITION"
    | "ALREADY_EXISTS"
    | "UNAVAILABLE"
    | "NOT_FOUND"
    | "INVALID_ARGUMENT"
    | "DEADLINE_EXCEEDED";
  readonly reason: string;

  constructor(code: MemberRefusal["code"], reason: string) {
    super(reason);
    this.code = code;
    this.reason = reason;
  }
}

/** A data directory: it is on a volume, and outlives processes. */
export interface Directory {
  incarnation: string;
  clusterId: string | null;
  memberId: number | null;
}

export interface QuorumSlot {
  readonly id: number;
  readonly name: string;
  voter: boolean;
  incarnation: string | null;
  claimedAt: number;
}

/** A learner needs this long to catch up. */
const CATCH_UP_MS = 1_500;

export class Quorum {
  clusterId: string | null = null;
  term = 1;
  index = 10;
  leaderId = 0;
  settings = new Map<string, string>();
  settingsRevision = 0;
  slots: QuorumSlot[] = [];
  /** All past numbers of voters, in order. */
  readonly voterCounts: number[] = [];
  readonly #directoryOf: (name: string) => Directory | null;
  readonly #now: () => number;

  /** @param directoryOf data directory of the process with this name */
  constructor(directoryOf: (name: string) => Directory | null, now: () => number) {
    this.#directoryOf = directoryOf;
    this.#now = now;
  }

  get voters(): QuorumSlot[] {
    return this.slots.filter(({ voter }) => voter);
  }

  isAlive({ id, name, incarnation }: QuorumSlot): boolean {
    const directory = this.#directoryOf(name);
    return directory?.memberId === id && directory.incarnation === incarnation;
  }

  get hasQuorum(): boolean {
    const { voters } = this;
    return voters.length > 0 && voters.filter((slot) => this.isAlive(slot)).length > voters.length / 2;
  }

  isPromotable(slot: QuorumSlot): boolean {
    return !slot.voter && this.isAlive(slot) && this.#now() - slot.claimedAt >= CATCH_UP_MS;
  }

  /** Elections, and claims of slots by empty processes. */
  tick(names: Iterable<string>): void {
    const leader = this.slots.find(({ id }) => id === this.leaderId);
    if (this.clusterId !== null && this.hasQuorum && (leader === undefined || !this.isAlive(leader))) {
      this.leaderId = this.voters.find((slot) => this.isAlive(slot))?.id ?? 0;
      this.term += 1;
    }
    for (const name of names) {
      const directory = this.#directoryOf(name);
      const slot = this.slots.find((each) => each.name === name && each.incarnation === null);
      if (directory !== null && directory.memberId === null && slot !== undefined && this.hasQuorum) {
        slot.incarnation = directory.incarnation;
        slot.claimedAt = this.#now();
        directory.memberId = slot.id;
        directory.clusterId = this.clusterId;
        this.index += 1;
      }
    }
  }

  bootstrap(name: string, clusterId: string, incarnation: string): void {
    const directory = this.#directoryOf(name);
    if (this.clusterId === clusterId && directory?.memberId !== null) {
      return;
    }
    if (this.clusterId !== null || directory?.incarnation !== incarnation) {
      throw new MemberRefusal("FAILED_PRECONDITION", "NOT_EMPTY");
    }
    this.clusterId = clusterId;
    this.index += 1;
    this.slots = [{ id: this.index, name, voter: true, incarnation, claimedAt: this.#now() }];
    Object.assign(directory, { memberId: this.index, clusterId });
    this.leaderId = this.index;
    this.#note();
  }

  /** The data of a stopped member becomes that of a new cluster with this member as its only voter. */
  succeed(name: string, directory: Directory, clusterId: string, lastIndex: number): void {
    this.clusterId = clusterId;
    this.index = lastIndex + 1;
    this.term += 1;
    const incarnation = [...directory.incarnation].reverse().join("");
    Object.assign(directory, { incarnation, clusterId, memberId: this.index });
    this.slots = [{ id: this.index, name, voter: true, incarnation, claimedAt: this.#now() }];
    this.leaderId = this.index;
    this.#note();
  }

  addSlot(name: string, ifIndex: number): void {
    this.#require(ifIndex);
    if (this.slots.some((slot) => slot.name === name)) {
      throw new MemberRefusal("ALREADY_EXISTS", "MEMBER_EXISTS");
    }
    this.index += 1;
    this.slots.push({ id: this.index, name, voter: false, incarnation: null, claimedAt: 0 });
  }

  promote(ids: readonly number[], ifIndex: number): void {
    this.#require(ifIndex);
    const chosen = this.#find(ids);
    if (chosen.some((slot) => !this.isPromotable(slot))) {
      throw new MemberRefusal("FAILED_PRECONDITION", "LEARNER_NOT_READY");
    }
    this.index += 1;
    for (const slot of chosen) {
      slot.voter = true;
    }
    this.#note();
  }

  remove(ids: readonly number[], ifIndex: number): void {
    this.#require(ifIndex);
    const chosen = this.#find(ids);
    if (ids.includes(this.leaderId)) {
      throw new MemberRefusal("FAILED_PRECONDITION", "IS_LEADER");
    }
    const rest = this.voters.filter(({ id }) => !ids.includes(id));
    if (rest.filter((slot) => this.isAlive(slot)).length <= rest.length / 2) {
      throw new MemberRefusal("FAILED_PRECONDITION", "QUORUM_UNSAFE");
    }
    this.index += 1;
    this.slots = this.slots.filter((slot) => !chosen.includes(slot));
    this.#note();
  }

  transfer(targetId: number, ifTerm: number): void {
    const target = this.#find([targetId])[0];
    if (ifTerm !== this.term || target?.voter !== true) {
      throw new MemberRefusal("FAILED_PRECONDITION", "TERM_CHANGED");
    }
    if (!this.isAlive(target)) {
      throw new MemberRefusal("UNAVAILABLE", "TRANSFER_TIMEOUT");
    }
    this.leaderId = targetId;
    this.term += 1;
  }

  putSettings(values: ReadonlyMap<string, string>, ifRevision: number): number {
    if (ifRevision !== 0 && ifRevision !== this.settingsRevision) {
      throw new MemberRefusal("FAILED_PRECONDITION", "SETTINGS_CHANGED");
    }
    const before = JSON.stringify([...this.settings]);
    for (const [name, value] of values) {
      this.settings.set(name, value);
    }
    this.settingsRevision += before === JSON.stringify([...this.settings]) ? 0 : 1;
    return this.settingsRevision;
  }

  #require(ifIndex: number): void {
    if (!this.hasQuorum) {
      throw new MemberRefusal("UNAVAILABLE", "NO_LEADER");
    }
    if (ifIndex !== this.index) {
      throw new MemberRefusal("FAILED_PRECONDITION", "CONFIG_CHANGED");
    }
  }

  #find(ids: readonly number[]): QuorumSlot[] {
    const found = this.slots.filter(({ id }) => ids.includes(id));
    if (found.length < ids.length) {
      throw new MemberRefusal("NOT_FOUND", "MEMBER_NOT_FOUND");
    }
    return found;
  }

  #note(): void {
    this.voterCounts.push(this.voters.length);
  }
}
