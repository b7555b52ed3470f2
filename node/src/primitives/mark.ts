/**
 * Marks: named places that a run has passed.
 *
 * Product code calls `mark` at places whose order matters: before and after each durable step, and on each rare branch.
 * Without a listener a mark costs one comparison. Tests listen, from a module loaded before the program, to count the
 * places reached or to end the process exactly there. Nothing in the product can switch that on.
 */

let listener: ((name: string) => void) | null = null;

/** Informs the listener, if there is one, that the run passed the place with this name. */
export function mark(name: string): void {
  if (listener !== null) {
    listener(name);
  }
}

/** Sets the one listener of this thread, or removes it with null. For tests and the simulator. */
export function listenToMarks(next: ((name: string) => void) | null): void {
  listener = next;
}
