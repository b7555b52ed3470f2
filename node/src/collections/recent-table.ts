/**
 * Members by a number that grows: those of the last numbers lie in a ring, the few that stay longer in a Map.
 *
 * A member whose place in the ring is wanted by a later number moves to the Map. So the Map has only what stays for long,
 * and the members that come and go leave nothing behind.
 */

/** Members whose numbers are within so many of each other need no Map. A power of two. */
const PLACES = 1_024;

export class RecentTable<Member> {
  readonly #mask: number;
  /** By the number's last bits: its member, and the number itself; 0 = the place is free. */
  readonly #members: (Member | null)[];
  readonly #numbers: Float64Array;
  readonly #older = new Map<number, Member>();
  #recent = 0;

  /** @param places of the ring, a power of two. */
  constructor(places = PLACES) {
    this.#mask = places - 1;
    this.#members = new Array<Member | null>(places).fill(null);
    this.#numbers = new Float64Array(places);
  }

  get size(): number {
    return this.#recent + this.#older.size;
  }

  get(number: number): Member | undefined {
    const place = number & this.#mask;
    return this.#numbers[place] === number ? (this.#members[place] ?? undefined) : this.#older.get(number);
  }

  /** Puts the member under the number, a whole number from 1 to 2^53 - 1, in place of what is there. */
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

  /** All members, in ascending order of their numbers, as they are now. */
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
