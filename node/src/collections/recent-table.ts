/**
 * A table of members by a growing number. A ring holds the members with the latest numbers; a Map holds the few older
 * ones.
 *
 * A member moves from the ring to the Map when a later number needs its place. So the Map holds only members that stay
 * long, and members that come and go leave nothing behind.
 */

/** Members whose numbers differ by less than this need no Map. A power of two. */
const SLOTS = 1_024;

export class RecentTable<Member> {
  readonly #mask: number;
  /** By the last bits of the number: the member, and the number itself; 0 = the place is free. */
  readonly #members: (Member | null)[];
  readonly #numbers: Float64Array;
  readonly #older = new Map<number, Member>();
  #recent = 0;

  /** @param slots in the ring; a power of two. */
  constructor(slots = SLOTS) {
    this.#mask = slots - 1;
    this.#members = new Array<Member | null>(slots).fill(null);
    this.#numbers = new Float64Array(slots);
  }

  get size(): number {
    return this.#recent + this.#older.size;
  }

  get(number: number): Member | undefined {
    const place = number & this.#mask;
    return this.#numbers[place] === number ? (this.#members[place] ?? undefined) : this.#older.get(number);
  }

  /** Stores the member under the number, a whole number from 1 to 2^53 - 1. Replaces the member that is there. */
  set(number: number, member: Member): void {
    const place = number & this.#mask;
    const before = this.#numbers[place] as number;
    if (before > number || this.#older.has(number)) {
      this.#older.set(number, member);
      return;
    }
    if (before === 0) {
      this.#recent++;
    } else if (before < number) {
      this.#older.set(before, this.#members[place] as Member);
    }
    this.#numbers[place] = number;
    this.#members[place] = member;
  }

  delete(number: number): void {
    const place = number & this.#mask;
    if (this.#numbers[place] === number) {
      this.#numbers[place] = 0;
      this.#members[place] = null;
      this.#recent--;
    } else {
      this.#older.delete(number);
    }
  }

  /** All current members, in ascending order of their numbers. */
  values(): readonly Member[] {
    if (this.size === 0) {
      return NONE;
    }
    const entries = [...this.#older];
    for (let place = 0; place <= this.#mask; place++) {
      const number = this.#numbers[place] as number;
      if (number !== 0) {
        entries.push([number, this.#members[place] as Member]);
      }
    }
    return entries.sort(([one], [other]) => one - other).map(([, member]) => member);
  }
}

const NONE: readonly never[] = [];
