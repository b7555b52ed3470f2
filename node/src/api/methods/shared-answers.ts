/**
 * Answers that several calls get, such as those of consoles that poll at the same time. A host that encodes or compresses
 * such an answer does it once, and keeps the result here for as long as the answer is in use.
 */

/** Encoded forms of one answer, by the name that the host gives a form. */
export type SharedForms = Map<string, Uint8Array>;

const shared = new WeakMap<object, SharedForms>();

/** Other calls may get the same answer, so it must never change. */
export function shareAnswer(response: object): void {
  shared.set(response, new Map());
}

/** Undefined = only one call gets the answer. */
export function sharedForms(response: object): SharedForms | undefined {
  return shared.get(response);
}
