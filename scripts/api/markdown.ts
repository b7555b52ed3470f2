/** Pieces of Markdown, in the form of the repository's formatter. */

/** A table whose columns have the same width in every row. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((cell) => prose(cell).replaceAll("|", "\\|")));
  const widths = titles.map((title, at) => Math.max(title.length, 3, ...cells.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |\n`;
  return [titles, widths.map((width) => "-".repeat(width)), ...cells].map(line).join("");
}

/** Plain text outside code: Markdown would read an angle bracket as the beginning of HTML. */
export function prose(text: string): string {
  return text.replaceAll(/`[^`]*`|</g, (found) => (found === "<" ? "\\<" : found));
}

/** A block of code. */
export function block(language: "sh" | "json" | "text", code: string): string {
  return `\`\`\`${language}\n${code}\n\`\`\`\n`;
}

/** The anchor of a heading, as GitHub makes it. */
export function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}
