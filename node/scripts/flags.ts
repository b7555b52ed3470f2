/**
 * Updates docs/flags.md from the flags of a member or, with --check, reports whether it is current. Exits with 1 if it
 * is not, and with 2 on wrong use.
 */
import { generate, markdownTable } from "../../scripts/generated/index.ts";
import { GROUP_TITLES, MEMBER_FLAGS } from "../src/process/index.ts";

const INTRODUCTION = `# Flags of a member

<!-- Written by \`npm run docs:flags\` from the code; \`npm run check\` refuses it when it is not current. -->

\`quoin-node\` takes these flags; \`quoin-node --help\` shows the same. Secrets come in files, never in flags.

Some flags have a variable in the environment, on Kubernetes by \`spec.podTemplate\`. The flag wins over its variable, and
an empty variable counts as unset. A variable that switches something on or off is \`true\`, \`1\`, \`yes\` or \`on\`, or
\`false\`, \`0\`, \`no\` or \`off\`, in any case. A flag with \`[boolean]\` is on without a value, and off with \`=false\`. A
member with a wrong value does not start. It names the flag or the variable, and the rule.

As a host to listen on, \`*\` means every IPv6 and IPv4 address.
`;
const TITLE_ROW = ["Flag", "Variable", "Default", "Meaning"];

const sections = Object.entries(MEMBER_FLAGS).map(([group, table]) => {
  const rows = Object.values(table).map(({ flags, envVar, defaultText, description, mandatory }) => [
    codeOf(flags),
    codeOf(envVar),
    mandatory ? "required" : codeOf(defaultText),
    // The default has a column.
    description.replace(` (default: ${defaultText})`, ""),
  ]);
  return `## ${GROUP_TITLES[group as keyof typeof MEMBER_FLAGS]}\n\n${markdownTable(TITLE_ROW, rows)}`;
});

await generate({
  script: "node/scripts/flags.ts",
  files: () => new Map([["docs/flags.md", `${INTRODUCTION}\n${sections.join("\n")}`]]),
  complaint: "does not describe the current flags: run npm run docs:flags",
});

function codeOf(text = ""): string {
  return text === "" ? "" : `\`${text}\``;
}
