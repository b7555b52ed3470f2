/** Objects that a command accepts by id or by name. */

import { NotFoundError, UsageError } from "../errors/index.ts";

/** Ids that the service generates. What does not look like one is a name. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** More candidates than this are not listed. */
const CANDIDATES_MAX = 10;

/** How to speak of the objects. */
export interface ObjectKind<Found> {
  /** Such as `API key`. */
  readonly title: string;
  /** The reason of the service if there is none. */
  readonly notFoundReason: string;
  /** An object of several with the same name, with its id. */
  readonly describe: (found: Found) => string;
}

/**
 * The only one of the objects with a name.
 *
 * @throws NotFoundError if there is none; UsageError if there are several, with the candidates in the hint.
 */
export function onlyOne<Found>(found: readonly Found[], name: string, kind: ObjectKind<Found>): Found {
  const [first, other] = found;
  if (first === undefined) {
    throw new NotFoundError(kind.notFoundReason, `there is no ${kind.title} ${JSON.stringify(name)}`);
  }
  if (other === undefined) {
    return first;
  }
  const more = found.length > CANDIDATES_MAX ? ", …" : "";
  throw new UsageError(
    `${found.length} ${kind.title}s are called ${JSON.stringify(name)}: name one of them`,
    `${found.slice(0, CANDIDATES_MAX).map(kind.describe).join(", ")}${more}`,
  );
}

/** Whether a text has the form of such an id. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
