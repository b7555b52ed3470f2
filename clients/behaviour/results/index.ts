/** Results of scenarios, and their table. */

/** The result of one scenario in one language: a line of a file of results. */
export interface ScenarioResult {
  readonly scenario: string;
  readonly language: string;
  readonly verdict: "passed" | "failed" | "unsupported";
  /** Why it has not passed. */
  readonly message: string;
  readonly durationMs: number;
}

/** A scenario in the table. */
interface Row {
  readonly name: string;
  readonly title: string;
}

/** How the languages are written. */
const TITLES: Readonly<Record<string, string>> = {
  typescript: "TypeScript",
  python: "Python",
  "python (asyncio)": "Python, asyncio",
  go: "Go",
};
/** Of a column, as the formatter of the documents has it. */
const WIDTH_MIN = 3;
const SIGNS: Readonly<Record<string, string>> = { passed: "✓", failed: "✗", unsupported: "–" };

/** The page of the manual with the table. */
export function pageOf(scenarios: readonly Row[], results: readonly ScenarioResult[]): string {
  return `# What every SDK promises

Each row is a scenario of [\`clients/behaviour\`](../clients/behaviour/README.md): a few calls against a real cluster of three
members, with faults on the way. The same scenario is a test of the SDK in each language. ✓ = it passes; – = the language
makes such a call impossible.

${tableOf(scenarios, results)}`;
}

/** The table scenario × language in Markdown; a cell without a sign has no result. */
export function tableOf(scenarios: readonly Row[], results: readonly ScenarioResult[]): string {
  const verdicts = new Map(results.map(({ scenario, language, verdict }) => [`${scenario} ${language}`, verdict]));
  const known = new Set(results.map(({ language }) => language));
  const languages = [
    ...Object.keys(TITLES).filter((one) => known.has(one)),
    ...[...known].filter((one) => !(one in TITLES)).sort(),
  ];
  const header = ["Scenario", "Promise", ...languages.map((language) => TITLES[language] ?? language)];
  const rows = scenarios.map(({ name, title }) => [
    `\`${name}\``,
    title.replaceAll("|", "\\|"),
    ...languages.map((language) => SIGNS[verdicts.get(`${name} ${language}`) ?? ""] ?? ""),
  ]);
  const widths = header.map((_, column) =>
    Math.max(WIDTH_MIN, ...[header, ...rows].map((cells) => cells[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |\n`;
  const rule = line(widths.map((width) => "-".repeat(width)));
  return [line(header), rule, ...rows.map(line)].join("");
}
