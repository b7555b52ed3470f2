/** A queue whose members hold the links, so that any member can leave in constant time. */

/** The links that a member keeps for the queue. A member is in at most one queue. */
export class Links<Member> {
  next: Member | null = null;
  previous: Member | null = null;
  isQueued = false;
}

export class LinkedQueue<Member extends { readonly links: Links<Member> }> {
  #first: Member | null = null;
  #last: Member | null = null;

  /** The member that joined first; null if the queue is empty. */
  get first(): Member | null {
    return this.#first;
  }

  /** The member that joined last; null if the queue is empty. */
  get last(): Member | null {
    return this.#last;
  }

  /** Adds a member behind all others. Does nothing if it is in the queue already. */
  push(member: Member): void {
    const { links } = member;
    if (links.isQueued) {
      return;
    }
    links.isQueued = true;
    links.previous = this.#last;
    if (this.#last === null) {
      this.#first = member;
    } else {
      this.#last.links.next = member;
    }
    this.#last = member;
  }

  /** Removes the member if it is in the queue. */
  remove({ links }: Member): void {
    if (!links.isQueued) {
      return;
    }
    const { next, previous } = links;
    if (previous === null) {
      this.#first = next;
    } else {
      previous.links.next = next;
    }
    if (next === null) {
      this.#last = previous;
    } else {
      next.links.previous = previous;
    }
    links.isQueued = false;
    links.next = null;
    links.previous = null;
  }
}
