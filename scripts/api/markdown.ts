/** Pieces of Markdown, in the form of the repository's formatter. */

import { markdownTable } from "../generated/index.ts";

/** A table of plain text with code. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return markdownTable(
    titles,
    rows.map((row) => row.map(prose)),
  );
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
