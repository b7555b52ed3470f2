import { writeFileSync } from "node:fs";

/** Files for a report as Markdown and for its figures as JSON; null = none. */
export interface ReportFiles {
  readonly markdown: string | null;
  readonly json: string | null;
}

/** Writes the wanted forms of a report. */
export function writeReport(
  { markdown, json }: ReportFiles,
  forms: { readonly markdown: () => string; readonly json: () => string },
): void {
  if (markdown !== null) {
    writeFileSync(markdown, forms.markdown());
  }
  if (json !== null) {
    writeFileSync(json, forms.json());
  }
}
