/** Ids that the service generates. What does not look like one is a name. */

const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text has the form of such an id. */
export function isUuid(text: string): boolean {
  return UUID_PATTERN.test(text);
}
