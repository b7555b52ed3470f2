/** What a failing golden spec tells a developer. */

/** @param what of the golden files is not what it was, in the plural */
export function broken(version: string, what: string): string {
  return (
    `${what} of golden files ${version} are not what they were. Members of version ${version} have such data, and rely on ` +
    "it. Keep reading and applying it as before, and give a new form a new format or cluster version: docs/compatibility.md"
  );
}
