/**
 * A table of Markdown in the form of the repository's formatter: its columns have the same width in every row. Bars are
 * escaped because a bar ends a cell.
 */
export function markdownTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = titles.map((title, at) => Math.max(title.length, 3, ...cells.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |\n`;
  return [titles, widths.map((width) => "-".repeat(width)), ...cells].map(line).join("");
}
