/**
 * The blocks of code in the manual: YAML and JSON parse, TypeScript compiles against the client, and shell commands have
 * valid syntax and name existing routes, methods and npm scripts. `documents.spec.ts` checks the commands of quoinctl,
 * `operator/scripts` the objects of our kinds, and `node/test/process/api-examples.spec.ts` runs the API reference.
 */

import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFileRegistry, fromBinary, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { readDescriptorSet } from "@quoin/proto";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { temporaryDirectory } from "../testing/index.ts";
import { repositoryRoot } from "./command.ts";
import { Manual } from "./site/index.ts";

/**
 * Languages of blocks, each with a check here. Text is output of programs, or a layout of files;
 * `e2e/interop/proxies.spec.ts` runs what is for nginx, `clients/go/go.spec.ts` compiles Go, and
 * `clients/python/python.spec.ts` runs the page for Python.
 */
const LANGUAGES = ["sh", "ts", "go", "json", "yaml", "text", "nginx", "python"];
/** Names that blocks use without a definition: the client of the first example, and what a reader has. */
const GIVEN = `
declare const client: import("@quoin/client").Client;
declare const QuoinError: typeof import("@quoin/client").QuoinError;
declare const payload: Uint8Array;
declare const token: string;
declare const order: { readonly id: string };
declare function remember(position: bigint | number): Promise<void>;
declare function stepDown(): void;
`;
/** Each command starts a program, which takes a second on an idle machine. */
const HELP_LIMIT_MS = 120_000;
/** Blocks are excerpts: not every name that they define is used. */
const COMPILER_OPTIONS = { noUnusedLocals: false, noUnusedParameters: false };

interface Block {
  readonly page: string;
  readonly language: string;
  readonly code: string;
}

const read = (page: string): string => readFileSync(join(repositoryRoot, page), "utf8");
const blocks: readonly Block[] = new Manual(repositoryRoot).pages().flatMap((page) =>
  [...read(page).matchAll(/^```(\w*)(?: \[[^\]]+\])?\n([\s\S]*?)^```/gm)].map(([, language = "", code = ""]) => ({
    page,
    language,
    code,
  })),
);
const blocksOf = (language: string): readonly Block[] => {
  const found = blocks.filter((block) => block.language === language);
  expect(found, language).to.have.lengthOf.at.least(5);
  return found;
};
/** A command of a shell block on one line, without its comment. */
const commandsOf = ({ code }: Block): readonly string[] => code.replaceAll("\\\n", " ").split("\n");

describe("blocks of code in the manual", () => {
  it("name their language", () => {
    for (const { page, language, code } of blocks) {
      expect(LANGUAGES, `${page}: ${code}`).to.include(language);
    }
  });

  it("are JSON", () => {
    for (const { page, code } of blocksOf("json")) {
      // Several messages of a stream follow each other.
      const messages = code.split(/^(?=\{)/m).filter((text) => text.trim() !== "");
      expect(messages, page).not.to.deep.equal([]);
      for (const text of messages) {
        expect(() => JSON.parse(text), `${page}: ${text}`).not.to.throw();
      }
    }
  });

  it("are YAML", () => {
    for (const { page, code } of blocksOf("yaml")) {
      const problems = parseAllDocuments(code).flatMap(({ errors, warnings }) => [...errors, ...warnings]);
      expect(problems.map(String), page).to.deep.equal([]);
    }
  });

  it("are TypeScript that compiles", () => {
    const directory = temporaryDirectory();
    symlinkSync(join(repositoryRoot, "node_modules"), join(directory, "node_modules"));
    const pages = Map.groupBy(blocksOf("ts"), ({ page }) => page);
    const files = [...pages].map(([page, ofPage]) => {
      const file = `${page.replaceAll(/\W/g, "-")}.ts`;
      writeFileSync(join(directory, file), nested(ofPage));
      return file;
    });
    writeFileSync(join(directory, "given.d.ts"), GIVEN);
    writeFileSync(join(directory, "package.json"), '{ "type": "module" }');
    const base = join(repositoryRoot, "tsconfig.json");
    const configuration = {
      extends: base,
      compilerOptions: COMPILER_OPTIONS,
      files: [...files, "given.d.ts"],
      include: [],
    };
    writeFileSync(join(directory, "tsconfig.json"), JSON.stringify(configuration));
    const tsc = join(repositoryRoot, "node_modules/.bin/tsc");
    const { status, stdout, error } = spawnSync(tsc, ["-p", directory], { encoding: "utf8" });
    expect(error).to.equal(undefined);
    expect(stdout).to.equal("");
    expect(status).to.equal(0);
  });

  it("are commands with the syntax of a shell", () => {
    for (const { page, code } of blocksOf("sh")) {
      const { status, stderr } = spawnSync("bash", ["-n"], { input: code, encoding: "utf8" });
      expect(status, `${page}: ${stderr}\n${code}`).to.equal(0);
    }
  });

  it("name existing npm scripts", () => {
    const { scripts } = JSON.parse(read("package.json"));
    const used = blocksOf("sh").flatMap(({ page, code }) =>
      [...code.matchAll(/\bnpm (?:run ([\w:]+)|(start|test))\b/g)].map(([, run, own]) => ({ page, name: run ?? own })),
    );
    expect(used).to.have.lengthOf.at.least(5);
    for (const { page, name } of used) {
      expect(scripts, page).to.have.property(String(name));
    }
  });

  it("send requests to existing routes", () => {
    const { paths } = JSON.parse(read("docs/api/openapi.json")) as { paths: Record<string, object> };
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({
        method: method.toUpperCase(),
        path: new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
      })),
    );
    const sent = blocksOf("sh").flatMap((block) =>
      commandsOf(block).flatMap((command) =>
        [...command.matchAll(/\bcurl (.*?(?:\$API|https:\/\/localhost:7401)(\/[^\s"'?]*)[^|]*)/g)].map(
          ([, options = "", path = ""]) => ({ page: block.page, path, method: methodOf(options) }),
        ),
      ),
    );
    expect(sent).to.have.lengthOf.at.least(30);
    for (const { page, path, method } of sent) {
      const found = routes.some((route) => route.method === method && route.path.test(path));
      expect(found, `${page}: ${method} ${path}`).to.equal(true);
    }
  });

  it("call existing methods with existing fields", () => {
    const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readDescriptorSet()));
    const calls = blocksOf("sh").flatMap(({ page, code }) =>
      [...code.matchAll(/^grpcurl [\s\S]*? (coordination\.v1\.\w+)\/(\w+)$/gm)].map(([call, service = "", method]) => ({
        page,
        service,
        method,
        request: / -d '([^']*)'/.exec(call)?.[1] ?? "{}",
      })),
    );
    expect(calls).to.have.lengthOf.at.least(40);
    for (const { page, service, method, request } of calls) {
      const found = registry.getService(service)?.methods.find(({ name }) => name === method);
      expect(found, `${page}: ${service}/${method}`).not.to.equal(undefined);
      if (found !== undefined) {
        const message: JsonValue = JSON.parse(request);
        expect(() => fromJson(found.input, message, { registry }), `${page}: ${request}`).not.to.throw();
      }
    }
  });

  it("explain options that quoinctl has", () => {
    const offered = quoinctl("__commands");
    const comments = blocksOf("sh").flatMap(({ page, code }) =>
      [...code.matchAll(/^(?:npx )?quoinctl .*# (.*)$/gm)].map(([, comment = ""]) => ({ page, comment })),
    );
    const explained = comments.flatMap(({ page, comment }) =>
      [...comment.matchAll(/--[a-z][a-z-]*/g)].map(([option]) => ({ page, option })),
    );
    expect(explained).to.have.lengthOf.at.least(40);
    for (const { page, option } of explained) {
      expect(offered, page).to.match(new RegExp(`[ \\t]${option}[ \\n]`));
    }
  });

  it("give quoin-node flags that it has", function () {
    this.timeout(HELP_LIMIT_MS);
    const used = blocksOf("sh").flatMap((block) =>
      commandsOf(block).flatMap((command) =>
        [...command.matchAll(/^quoin-node ([^#]*)/g)].map(([, words = ""]) => ({ page: block.page, words })),
      ),
    );
    expect(used).to.have.lengthOf.at.least(5);
    const subcommandOf = (words: string): string => /^(?:[a-z][a-z-]* )*/.exec(words)?.[0].trim() ?? "";
    for (const [subcommand, ofCommand] of Map.groupBy(used, ({ words }) => subcommandOf(words))) {
      const parameters = ["node/src/main.ts", ...subcommand.split(" ").filter((word) => word !== ""), "--help"];
      const help = execFileSync(process.execPath, parameters, { cwd: repositoryRoot, encoding: "utf8" });
      for (const { page, words } of ofCommand) {
        for (const [, flag = ""] of words.matchAll(/ (--[a-z-]+)/g)) {
          expect(help, `${page}: quoin-node ${words}`).to.include(`${flag} `);
        }
      }
    }
  });
});

function quoinctl(...parameters: readonly string[]): string {
  const program = join(repositoryRoot, "client/bin/quoinctl.js");
  return execFileSync(process.execPath, [program, ...parameters], { encoding: "utf8" });
}

/** The blocks of a page as one module. Each block is inside the one before, because it uses its names. */
function nested(ofPage: readonly Block[]): string {
  const imports = ofPage.flatMap(({ code }) => code.match(/^import .*$/gm) ?? []);
  const bodies = ofPage.map(({ code }) => code.replaceAll(/^import .*$/gm, ""));
  return [...imports, ...bodies.map((body) => `{\n${body}`), "}\n".repeat(bodies.length)].join("\n");
}

/** The method of a request by curl, from its options. */
function methodOf(options: string): string {
  const [, given] = / -X (\w+)/.exec(` ${options}`) ?? [];
  return given ?? (/ (?:-d|--data-binary) /.test(options) ? "POST" : "GET");
}
