/** The namespaces of a user, as a person enters them. */

/** Names separated by commas or spaces, each once. */
export function namespacesOf(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((name) => name !== ""))];
}
