import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect } from "chai";
import { repositoryRoot } from "./command.ts";
import { Manual } from "./site/index.ts";

/** Hand-written documents; `npm run check` compares generated ones with their source. */
const DOCUMENTS = [
  "install",
  "packages",
  "quick-start",
  "security",
  "sizing",
  "monitoring",
  "compatibility",
  "README",
  "command-line",
  "guarantees",
  "errors",
  "without-kubernetes",
  "writing-a-client",
  "troubleshooting",
  "faq",
  "comparison",
  "reliability",
  "benchmarks",
  ...["README", "keys", "locks", "sessions", "memory", "event-logs", "watches", "tokens-and-roles"].map(
    (name) => `concepts/${name}`,
  ),
  ...globSync("docs/operations/*.md", { cwd: repositoryRoot }).map((file) => `operations/${basename(file, ".md")}`),
].map((name) => `docs/${name}.md`);
/** Folders whose files are of others, or built. */
const OF_OTHERS = ["**/node_modules", "site", "packages", "dist"];
/** The page that says how to pack what is published. */
const PACKING = "docs/packages.md";
/** Specs that write pages of their own. */
const SPECS_OF_PAGES = /^scripts\/(site|tidy|prose)\/.*\.spec\.ts$/;
/** Words of Kubernetes, Linux and gRPC that look like names of this project. */
const WORDS_OF_OTHERS = [
  "Pending",
  "Terminating",
  "SERVING",
  "VmHWM",
  "Bearer",
  "Allow",
  "UPDATE",
  "INTERNAL",
  "DATA_LOSS",
];
/** Flags of Helm. */
const FLAGS_OF_OTHERS = ["--set", "--take-ownership"];
/** Metrics that the Prometheus library defines for every process. */
const PROCESS_METRICS = /^(process|nodejs)_/;
/** Environment variables of ours. */
const VARIABLE = /^QUOIN_[A-Z_]+$/;
/** Values of conditions, and of flags in YAML. */
const VALUES = ["true", "false"];

const read = (path: string): string => readFileSync(join(repositoryRoot, path), "utf8");
const allOf = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map((match) => match[1] ?? "");

/** A document without its blocks of code, and the blocks. */
function partsOf(path: string): { spans: string[]; blocks: string[]; prose: string } {
  const text = read(path);
  const blocks = [...allOf(text, /^```\w*\n([\s\S]*?)^```/gm), ...allOf(text, /((?:^ {4}.*\n)+)/gm)];
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, "");
  return { spans: allOf(prose, /`([^`]+)`/g).map((span) => span.replaceAll(/\s+/g, " ")), blocks, prose };
}

function sourcesOf(...patterns: string[]): string {
  const files = globSync(patterns, { cwd: repositoryRoot }).filter((file) => !file.endsWith(".spec.ts"));
  return files.sort().map(read).join("\n");
}

function outputOf(...parameters: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, parameters, { cwd: repositoryRoot, encoding: "utf8" });
  expect(status, stderr).to.equal(0);
  return stdout;
}

/** The fields in the reference, with their allowed values if the reference lists them. */
function readFields(): ReadonlyMap<string, readonly string[]> {
  const [specification = "", rest = ""] = read("docs/reference.md").split("## What is refused");
  const [, status = ""] = rest.split("## Status");
  // There, rows about refusals are not separate fields.
  const ofBackups = read("docs/backup-reference.md").replaceAll(/^\|[^|]*\| (?:always|change) .*\n/gm, "");
  const rows = [...`${specification}${status}${ofBackups}`.matchAll(/^\| `((?:spec|status)\.[^`]+)` +\| ([^|]*)\|/gm)];
  return new Map(rows.map(([, path = "", type = ""]) => [path, allOf(type, /`([^`]+)`/g)]));
}

/** What the contract names: reasons of errors with their codes, and the values of enumerations. */
function readContract(): { readonly codes: ReadonlyMap<string, string>; readonly words: readonly string[] } {
  const rows = read("node/src/state/core/coordination-error.ts").matchAll(/^ {2}([A-Z_]+): "([A-Z_]+)",$/gm);
  const codes = new Map([...rows].map(([, reason = "", code = ""]) => [reason, code]));
  const values = allOf(sourcesOf("proto/coordination/v1/*.proto"), /^ +([A-Z_]+) = \d+;/gm);
  const reasons = allOf(read("client/src/errors/reasons.ts"), /^ {2}"([A-Z_]+)",$/gm);
  const ofHttp = allOf(read("node/src/api/http/answers/http-error.ts"), /^ {2}\w+: "([A-Z_]+)",$/gm);
  return { codes, words: [...reasons, ...ofHttp, ...codes.keys(), ...codes.values(), ...values] };
}

describe("the documents", () => {
  const operator = sourcesOf("operator/src/**/*.ts");
  const strings = new Set(allOf(operator, /"([^"\n]*)"/g));
  const definition = read("crds/quoin.dev_coordinationclusters.yaml");
  const fields = readFields();
  const parts = DOCUMENTS.filter((path) => existsSync(join(repositoryRoot, path))).map((path) => ({
    path,
    ...partsOf(path),
  }));
  const spans = parts.flatMap(({ path, spans: found }) => found.map((span) => ({ path, span })));
  const matching = (pattern: RegExp): { path: string; span: string }[] =>
    spans.filter(({ span }) => pattern.test(span));

  /** Reasons that contain the kind of the object. */
  const composed = allOf(operator, /`\$\{kind\}([A-Z][A-Za-z]+)`/g).flatMap((end) => [
    `PodMonitor${end}`,
    `PrometheusRule${end}`,
    `Certificate${end}`,
  ]);
  const enumerated = [...fields.values()].flat();
  const kinds = allOf(read("operator/src/kube/resources.ts"), /^ {2}([A-Z]\w+): \{/gm);
  const contract = readContract();
  const names = new Set([...strings, ...composed, ...enumerated, ...kinds, ...WORDS_OF_OTHERS]);

  it("are all found", () => {
    expect(parts.map(({ path }) => path)).to.deep.equal(DOCUMENTS);
    // Each pattern below matches something.
    for (const pattern of [/^spec\./, /^quoin\.dev\//, /^quoin_/, /^[A-Z][a-z]+[A-Z]/, /^MEMBER_/, VARIABLE, /^--/]) {
      expect(matching(pattern), String(pattern)).to.have.lengthOf.at.least(1);
    }
  });

  it("name existing fields, with their possible values", () => {
    for (const { path, span } of matching(/^(spec|status)\./)) {
      const [field = "", value] = span.split(": ");
      const isOpen = [...fields].some(([name]) => name.startsWith(`${field}.`));
      expect(fields.has(field) || isOpen, `${path}: ${span}`).to.equal(true);
      if (value !== undefined) {
        expect([...(fields.get(field) ?? []), ...VALUES], `${path}: ${span}`).to.include(value);
      }
    }
  });

  it("name existing conditions, reasons, rules, events, phases and kinds", () => {
    const rpcs = allOf(sourcesOf("proto/{coordination/v1,google/rpc}/*.proto"), /\b(?:rpc|service|message) (\w+)/g);
    for (const { path, span } of matching(/^[A-Z][a-z]+([A-Z]+[a-z]*)*$/)) {
      expect(names.has(span) || rpcs.includes(span), `${path}: ${span}`).to.equal(true);
    }
  });

  it("name states, and constants with their file", () => {
    const cited = parts.flatMap(({ path, prose }) =>
      [...prose.replaceAll(/\s+/g, " ").matchAll(/`([\w/.-]+\.ts)`: `(\w+)`(?:, `(\w+)`)?/g)].map(
        ([, file = "", ...found]) => ({
          path,
          file,
          constants: found.filter((name) => name !== undefined),
        }),
      ),
    );
    expect(cited).to.have.lengthOf.at.least(30);
    for (const { path, file, constants } of cited) {
      for (const name of constants) {
        expect(read(file), `${path}: ${file}`).to.match(new RegExp(`\\b${name}\\b`));
      }
    }
    const constants = cited.flatMap(({ constants: found }) => found);
    const ofCommands = allOf(sourcesOf("client/src/cli/**/*.ts"), /"([A-Z]+)"/g);
    const known = new Set([...strings, ...constants, ...contract.words, ...ofCommands, ...WORDS_OF_OTHERS]);
    for (const { path, span } of matching(/^[A-Z]+(_[A-Z]+)*$/).filter(({ span }) => !VARIABLE.test(span))) {
      expect(known.has(span), `${path}: ${span}`).to.equal(true);
    }
  });

  it("name the versions of formats in the code", () => {
    const sources: readonly (readonly [row: string, file: string, pattern: RegExp])[] = [
      ["cluster version", "node/src/state/core/cluster.ts", /^export const CLUSTER_VERSION = (\d+);/m],
      ["format of a directory", "node/src/storage/identity/identity.ts", /^const FORMAT = (\d+);/m],
      [
        "format of snapshots",
        "node/src/replica/snapshots/outgoing-snapshots.ts",
        /^export const SNAPSHOT_FORMAT = (\d+);/m,
      ],
      ["format of backups", "backup/src/format/layout.ts", /^export const FORMAT_VERSION = (\d+);/m],
      ["peer protocol", "node/src/peers/hello.ts", /^const PROTOCOL_VERSION = (\d+);/m],
    ];
    const text = read("docs/compatibility.md");
    for (const [row, file, pattern] of sources) {
      const [, stated] = text.match(new RegExp(`^\\| ${row} .*\\| (\\d+) +\\|$`, "m")) ?? [];
      expect(stated, `docs/compatibility.md: ${row}, as in ${file}`).to.equal(read(file).match(pattern)?.[1]);
    }
  });

  it("name environment variables that a member or quoinctl reads", () => {
    const ofMembers = allOf(read("docs/flags.md"), /\| `(QUOIN_\w+)`/g);
    const known = [...ofMembers, ...allOf(sourcesOf("client/src/cli/**/*.ts"), /\b(QUOIN_\w+)\b/g)];
    for (const { path, span } of matching(VARIABLE)) {
      expect(known, path).to.include(span);
    }
  });

  it("name existing files", () => {
    for (const { path, span } of matching(
      /^(node|operator|scripts|crds|charts|client|bench|e2e|proto)\/[\w/.-]+\.\w+$/,
    )) {
      expect(existsSync(join(repositoryRoot, span)), `${path}: ${span}`).to.equal(true);
    }
  });

  it("name annotations and labels that the code reads or writes", () => {
    const known = `${operator}\n${sourcesOf("node/src/{telemetry,kubernetes}/*.ts")}\n${definition}`;
    for (const { path, span } of matching(/^quoin\.dev\//)) {
      expect(known, `${path}: ${span}`).to.include(span);
    }
    for (const { path, blocks } of parts) {
      for (const name of allOf(blocks.join("\n"), /\b(quoin\.dev\/[a-z0-9-]+?)(?=[=-]?(?:[\s"=]|$))/gm)) {
        expect(known, `${path}: ${name}`).to.include(name);
      }
    }
  });

  it("name existing metrics", () => {
    const members = allOf(read("docs/metrics.md"), /^\| `(quoin_\w+)`/gm);
    const own = allOf(read("operator/src/telemetry/metrics.ts"), /\$\{PREFIX\}(\w+)/g).map(
      (end) => `quoin_operator_${end}`,
    );
    const known = new Set([...members, ...own]);
    for (const { path, blocks, prose } of parts) {
      for (const name of allOf(`${prose}\n${blocks.join("\n")}`, /\b(quoin_[a-z0-9_]+)\b/g)) {
        const metric = name.replace(/_(bucket|sum|count)$/, "");
        expect(known.has(name) || known.has(metric), `${path}: ${name}`).to.equal(true);
      }
      for (const { span } of matching(PROCESS_METRICS)) {
        expect(["process_resident_memory_bytes", "process_cpu_seconds_total", "process_*", "nodejs_*"]).to.include(
          span,
        );
      }
    }
  });

  it("name existing flags", () => {
    const commands = [[], ["restore"], ["recover"]];
    const help = [
      ...commands.map((words) => outputOf("node/src/main.ts", ...words, "--help")),
      outputOf("operator/src/main.ts", "--help"),
    ].join("\n");
    const offered = allOf(outputOf("client/bin/quoinctl.js", "__commands"), /(--[a-z-]+)/g);
    const tools = sourcesOf("node/local/options.ts", "node/verify/sim/options.ts", "bench/**/*.ts");
    const flags = [...allOf(help, /^ +(?:-\w, )?(--[a-z-]+)/gm), ...offered, ...allOf(tools, /"(--[a-z-]+)[ "]/g)];
    for (const { path, span } of matching(/^--[a-z]/)) {
      const [flag = ""] = span.split(/[ =]/);
      expect([...flags, ...FLAGS_OF_OTHERS], `${path}: ${span}`).to.include(flag);
    }
  });

  it("show existing commands of quoinctl, with existing options", () => {
    const offers = new Map(
      outputOf("client/bin/quoinctl.js", "__commands")
        .trimEnd()
        .split("\n")
        .map((line) => line.split("\t"))
        .map(([words = "", offered = ""]) => [words, offered.split(" ")]),
    );
    const used = parts.flatMap(({ path, blocks, spans: found }) =>
      [...blocks.flatMap((block) => block.split("\n")), ...found].flatMap((line) =>
        allOf(line, /(?:^ *|-- |&& |[('])(?:npx )?(?:qctl|quoinctl) ([^|;&#)']+)/g).map((command) => ({
          path,
          command: command.trim(),
        })),
      ),
    );
    expect(used).to.have.lengthOf.at.least(10);
    for (const { path, command } of used) {
      const [own = ""] = command.split(/ -- | "\$@"/);
      const words = own.split(/\s+/).filter((word) => word !== "" && word !== "…");
      if (words[0]?.startsWith("--") === true || words[0] === '"$@"') {
        continue; // The shell function itself.
      }
      let place = "";
      while (offers.has(`${place} ${words[0] ?? ""}`.trim()) && words.length > 0) {
        place = `${place} ${words.shift()}`.trim();
      }
      const offered = offers.get(place) ?? [];
      expect(place, `${path}: ${command}`).not.to.equal("");
      // An ellipsis stands for any of the subcommands.
      const isGroup = offered.some((word) => !word.startsWith("-") && offers.has(`${place} ${word}`));
      // The group of the leader names it.
      expect(isGroup && !own.endsWith("…") && place !== "leader", `${path}: ${command}`).to.equal(false);
      for (const option of words.filter((word) => word.startsWith("--"))) {
        expect(offered, `${path}: ${command}`).to.include(option);
      }
    }
  });

  it("set existing values of the chart", () => {
    const schema: ValuesSchema = JSON.parse(read("charts/quoin-operator/values.schema.json"));
    const used = parts.flatMap(({ path, blocks, prose, spans: found }) => [
      ...allOf(`${prose}\n${blocks.join("\n")}`, /--set ["']?([A-Za-z.]+)=/g).map((value) => ({ path, value })),
      ...(path === "docs/install.md" ? found : [])
        .flatMap((span) => allOf(span, /^([a-z][A-Za-z.]+)=/g))
        .map((value) => ({ path, value })),
    ]);
    expect(used).to.have.lengthOf.at.least(5);
    for (const { path, value } of used) {
      expect(hasValue(schema, value.split(".")), `${path}: ${value}`).to.equal(true);
    }
  });

  it("name the objects of the cluster demo correctly", () => {
    for (const { path, span } of matching(/^(data-)?demo-[a-z0-9-]+$/)) {
      const end = span.replace(/^(data-)?demo/, "");
      expect(/^-[0-6]$/.test(end) || operator.includes(`${end}\``), `${path}: ${span}`).to.equal(true);
    }
    const ports = allOf(read("operator/src/render/names.ts"), /: (74\d\d)\b/g);
    for (const { path, prose, blocks } of parts) {
      for (const port of allOf(`${prose}\n${blocks.join("\n")}`, /\b(74\d\d)\b/g)) {
        expect(ports, path).to.include(port);
      }
    }
  });

  it("link to existing files, and to headings in them", () => {
    const slugOf = (title: string): string =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-");
    const pages = new Manual(repositoryRoot).pages();
    expect(pages).to.have.lengthOf.at.least(40);
    const others = globSync("*/**/*.md", { cwd: repositoryRoot, exclude: OF_OTHERS });
    for (const path of new Set([...pages, ...others])) {
      const text = partsOf(path).prose.replaceAll(/`[^`]*`/g, "");
      for (const link of allOf(text, /\]\(([^)\s]+)\)/g).filter((target) => !target.includes("://"))) {
        const [file = "", anchor] = link.split("#");
        const target = file === "" ? path : join(dirname(path), file);
        expect(existsSync(join(repositoryRoot, target)), `${path}: ${link}`).to.equal(true);
        if (anchor !== undefined) {
          expect(allOf(read(target), /^#+ (.+)$/gm).map(slugOf), `${path}: ${link}`).to.include(anchor);
        }
      }
      for (const command of allOf(partsOf(path).prose, /`npm run ([\w:]+)/g)) {
        expect(JSON.parse(read("package.json")).scripts, `${path}: npm run ${command}`).to.have.property(command);
      }
    }
  });

  it("say how to get what is in no registry yet, wherever they install it", () => {
    const needed = /\bnpm install .*quoin|\bnpx quoin (?:start|member)|\bquoin:0\.|\bhelm (?:upgrade --)?install /;
    const pages = [...new Manual(repositoryRoot).pages(), ...globSync("charts/*/README.md", { cwd: repositoryRoot })];
    const installing = pages.filter((path) => needed.test(read(path)) && path !== PACKING);
    expect(installing).to.have.lengthOf.at.least(8);
    for (const path of installing) {
      const [link] =
        /[nN]ot in a registry yet: \[pack it\]\(([^)]+)\)/.exec(read(path).replaceAll(/\s+/g, " "))?.slice(1) ?? [];
      expect(join(dirname(path), link ?? "none"), path).to.equal(PACKING);
    }
  });

  it("name the folder into which packages are built", () => {
    const [, folder] = /out: \{ type: "string", default: "(\w+)" \}/.exec(read("scripts/packages/main.ts")) ?? [];
    const named = ["packages", "python", "go", "sdks"].flatMap((page) => {
      return allOf(read(`docs/${page}.md`), /\b([a-z]+)\/(?:python\/|go\b|quoin-0|quoin-client-0)/g);
    });
    expect(named).to.have.lengthOf.at.least(6);
    expect(new Set(named)).to.deep.equal(new Set([folder]));
  });

  it("write only what git ignores, with the commands of README.md", () => {
    const blocks = partsOf("README.md").blocks.join("\n");
    const folders = allOf(blocks, /--(?:backup-store|data-dir|out) (\w+)/g);
    expect(folders).to.include.members(["backups", "other"]);
    const files = allOf(blocks, /\bSTATE=(state-)\$\(date/g).map((start) => `${start}*.qsnap`);
    expect(files).to.have.lengthOf(1);
    const ignored = read(".gitignore").split("\n");
    expect(ignored).to.include.members([...folders.map((folder) => `/${folder}/`), ...files.map((file) => `/${file}`)]);
    expect(ignored).to.include(".quoin/");
  });

  it("show pictures with a text for those who do not see them, and drawings that are readable on light and on dark", () => {
    const shown = parts.flatMap(({ path, prose }) =>
      [...prose.matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)].map(([, text = "", file = ""]) => ({
        path,
        text,
        file: join(dirname(path), file),
      })),
    );
    const drawings = globSync("docs/images/*.svg", { cwd: repositoryRoot });
    expect(drawings).to.have.lengthOf.at.least(5);
    expect(shown.map(({ file }) => file)).to.include.members(drawings);
    for (const { path, text, file } of shown) {
      expect(text.length, `${path}: ${file}`).to.be.greaterThan(10);
    }
    for (const drawing of drawings) {
      expect(read(drawing), drawing).to.match(/<title>\S.*<\/title>\n<desc>\S/);
      expect(read(drawing), drawing).to.include("@media (prefers-color-scheme: dark)").and.include("<text ");
    }
  });

  it("exist where a source or a configuration names one", () => {
    const files = globSync("**/*.{ts,tsx,mjs,js,proto,yaml,json,sh,service}", {
      cwd: repositoryRoot,
      exclude: OF_OTHERS,
    });
    const named = files
      .filter((path) => !SPECS_OF_PAGES.test(path))
      .flatMap((path) => allOf(read(path), /\b(docs\/[\w/-]+\.md)\b/g).map((page) => ({ path, page })));
    expect(named).to.have.lengthOf.at.least(30);
    for (const { path, page } of named) {
      expect(existsSync(join(repositoryRoot, page)), `${path}: ${page}`).to.equal(true);
    }
  });

  it("describe each error with its code, its cause and its remedy", () => {
    const page = read("docs/errors.md");
    const rows = (pattern: RegExp): [string, string][] =>
      [...page.matchAll(pattern)].map(([, name = "", code = ""]) => [name, code]);
    const described = new Map(rows(/^\| `([A-Z_]+)` +\| `([A-Z_]+)` +\|(?:[^|]*\|)?(?:[^|]*\S[^|]*\|){2}$/gm));
    const further: readonly [string, string][] = [
      ["API_KEY_LOST", "DATA_LOSS"],
      ["INTERNAL", "INTERNAL"],
      ["NOT_ACQUIRED", "FAILED_PRECONDITION"],
      ["NO_TOKEN", "UNAUTHENTICATED"],
      ["SESSION_LOST", "FAILED_PRECONDITION"],
      ["TRANSACTION_CONFLICT", "ABORTED"],
    ];
    expect([...described].sort()).to.deep.equal([...contract.codes, ...further].sort());

    const source = read("node/src/api/http/answers/http-error.ts");
    const statuses = allOf(/const STATUSES = \{([^}]+)\}/.exec(source)?.[1] ?? "", /^ +(\w+: \d+),$/gm);
    expect(statuses).to.have.lengthOf.at.least(20);
    for (const [code = "", status = ""] of statuses.map((pair) => pair.split(": "))) {
      const isNamed = new RegExp(`\\b${status} \`${code}\``).test(page);
      const hasRow = new RegExp(`^\\| \`${code}\` +\\| ${status} +\\|`, "m").test(page);
      expect(isNamed || hasRow, `${status} ${code}`).to.equal(true);
    }
    const mapped = [...source.matchAll(/^ {2}([A-Z_]+): "(\w+)",$/gm)];
    for (const [, reason = "", code = ""] of mapped.filter(([, reason]) => reason !== "DEADLINE")) {
      const row = new RegExp(`^\\| \`${reason}\` .*$`, "m").exec(page)?.[0];
      expect(row, reason).to.match(code === "invalid_request" ? /400|INVALID/ : new RegExp(`\`${code}\``));
    }
  });

  it("have the figures of the tests", () => {
    const count = (file: string, pattern: RegExp): number => [...read(file).matchAll(pattern)].length;
    const files = (pattern: string): number => globSync(pattern, { cwd: repositoryRoot }).length;
    const constant = (file: string, name: string): number =>
      Number(new RegExp(`^const ${name} = (\\d+);`, "m").exec(read(file))?.[1]);
    const seeds = globSync("node/verify/sim/sim*.spec.ts", { cwd: repositoryRoot }).flatMap((file) => [
      ...read(file).matchAll(/\bdescribeSeeds\((\d+), (\d+)\)/g),
    ]);
    const [faults = ""] = allOf(read("node/verify/sim/plan.ts"), /^export const FAULTS = \[([^\]]+)\]/gm);
    const counted: Readonly<Record<string, number>> = {
      "node/verify/sim": seeds.reduce((sum, [, first, last]) => sum + Number(last) - Number(first) + 1, 0),
      "node/verify/sim/plan.ts": allOf(faults, /"(\w+)"/g).length,
      "docs/design/testing.md": count("docs/design/testing.md", /^\| I\d+ /gm),
      "node/verify/scenarios": files("node/verify/scenarios/*.txt"),
      "node/verify/sim/mutants/record.json": Object.keys(JSON.parse(read("node/verify/sim/mutants/record.json")))
        .length,
      "node/src/storage/files/crash-point.ts": count("node/src/storage/files/crash-point.ts", /^ {2}"[a-z.-]+",$/gm),
      "node/test/crash/kill-rounds.spec.ts": constant("node/test/crash/kill-rounds.spec.ts", "ROUNDS"),
      "docs/design/interface-rules.md": count("docs/design/interface-rules.md", /^\| S\d+ /gm),
      "docs/design/pitfalls.md": count("docs/design/pitfalls.md", /^\| P\d+ /gm),
      "e2e/kubernetes": files("e2e/kubernetes/*.spec.ts"),
    };
    const rows = [...read("docs/reliability.md").matchAll(/^\| [^|]+ \| (\d+) +\| `([^`]+)` +\|$/gm)];
    expect(Object.fromEntries(rows.map(([, number, file = ""]) => [file, Number(number)]))).to.deep.equal(counted);
  });

  it("name routes of the HTTP interface", () => {
    const routes = allOf(sourcesOf("node/src/api/http/**/*.ts"), /"(\/[\w.{}/-]+)"/g);
    for (const { path, span } of matching(/^(GET|POST|PATCH|DELETE) \//)) {
      expect(routes, `${path}: ${span}`).to.include(span.replace(/^\w+ /, "").replace(/\?.*$/, ""));
    }
  });

  it("have a row for each scenario on Kubernetes", () => {
    const scenarios = globSync("e2e/kubernetes/*.spec.ts", { cwd: repositoryRoot }).map((file) =>
      basename(file, ".spec.ts"),
    );
    expect(allOf(read("e2e/README.md"), /^\| `([a-z-]+)` +\|/gm).sort()).to.deep.equal(scenarios.sort());
  });

  it("describe every message of the operator", () => {
    const told = new Set(spans.filter(({ path }) => path.startsWith("docs/operations/")).map(({ span }) => span));
    const unionOf = (name: string): string[] =>
      allOf(new RegExp(`export type ${name} =([^;]+);`).exec(operator)?.[1] ?? "", /"(\w+)"/g);
    const said = {
      rules: unionOf("Rule"),
      blockers: unionOf("BlockerReason"),
      obstacles: unionOf("ObstacleReason"),
      states: unionOf("MemberState"),
      conditions: allOf(read("operator/src/status/conditions.ts"), /(?:answer|verdict)\("(\w+)"|type: "(\w+)"/g).filter(
        Boolean,
      ),
      phases: allOf(read("operator/src/status/phase.ts"), /(?:, |return |\? |: )"([A-Z]\w+)"(?=\],|;| :)/g),
      problems: allOf(
        sourcesOf("operator/src/{status,certificates,observe}/*.ts", "operator/src/plan/quorum-loss.ts"),
        /reason: "(\w+)"/g,
      ),
      events: allOf(read("operator/src/controller/events.ts"), /(?:reason: |"?[a-z-]+"?: )"([A-Z]\w+)",?/g).filter(
        (name) => !["Normal", "Warning", "Observe", "Grow", "Renew", "Restore"].includes(name),
      ),
    };
    for (const [what, found] of Object.entries(said)) {
      expect(found, what).to.have.lengthOf.at.least(3);
      for (const name of found) {
        expect(told.has(name), `${what}: ${name}`).to.equal(true);
      }
    }
  });

  it("have the figures of the code", () => {
    const figures = [...read("docs/sizing.md").matchAll(/\| +([\d,]+)(?: (\w+))? +\| `([\w/.-]+)`: `(\w+)` +\|/g)];
    expect(figures).to.have.lengthOf.at.least(30);
    for (const [row, amount = "", unit = "", file = "", name = ""] of figures) {
      const shown = Number(amount.replaceAll(",", "")) * scaleOf(unit, name);
      const values = allOf(read(file), new RegExp(`\\b${name}(?::| =) ([^,;\\n]+)[,;]`, "g")).map(amountOf);
      expect(values, row).to.include(shown);
    }
  });
});

interface ValuesSchema {
  readonly properties?: Readonly<Record<string, ValuesSchema>>;
}

function hasValue(schema: ValuesSchema, keys: readonly string[]): boolean {
  let place: ValuesSchema | undefined = schema;
  for (const key of keys) {
    place = place?.properties?.[key];
  }
  return place !== undefined;
}

/** The size of one unit, in the unit at the end of the constant's name. */
function scaleOf(unit: string, name: string): number {
  const scales: Readonly<Record<string, number>> = {
    KiB: 1024,
    MiB: 1024 ** 2,
    GiB: 1024 ** 3,
    s: /Ms|_MS/.test(name) ? 1000 : 1,
  };
  return unit === "" ? 1 : (scales[unit] ?? Number.NaN);
}

/** The value of a product of whole numbers, as in the definitions of constants. */
function amountOf(expression: string): number {
  return expression
    .replaceAll("MIB", "1048576")
    .replaceAll("_", "")
    .split("*")
    .reduce((product, factor) => product * Number(factor.trim()), 1);
}
