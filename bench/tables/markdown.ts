/** A line of a table in Markdown. */
function lineOf(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/**
 * The lines of a table in Markdown.
 *
 * @param isNumber whether a column has numbers, which stand on the right; by default, all but the first have.
 */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  isNumber: (name: string, at: number) => boolean = (_, at) => at > 0,
): string[] {
  return [lineOf(head), lineOf(head.map((name, at) => (isNumber(name, at) ? "---:" : "---"))), ...rows.map(lineOf)];
}
