/** Plain English, checked by Vale with the rules beside this file. Vale reads documents, and the comments of code. */
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { buildGoTool } from "../go/index.ts";
import { isGenerated, readSourceTree } from "../tidy/index.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const MODULE = path.join(import.meta.dirname, "vale");
const PROGRAM = "github.com/vale-cli/vale/v3/cmd/vale";
const RULES = path.join(import.meta.dirname, "vale.ini");
/** The rules quote what they refuse. */
const OWN_RULES = "scripts/prose/styles/";
const CHECKED = /\.(?:md|tsx?|mjs|js|proto|yaml|yml|py|go|sh)$/;
const OUTPUT_BYTES_MAX = 32 * 1_024 * 1_024;

const execute = promisify(execFile);

/** @returns the path of Vale, which the first call builds in one to two minutes. Raises GoMissing. */
export function buildVale(): Promise<string> {
  return buildGoTool({ name: "vale", module: MODULE, package: PROGRAM, needsC: true });
}

/** @returns each place where the prose of the repository breaks a rule, as `path:line: message`. Raises GoMissing. */
export async function findDialect(): Promise<string[]> {
  const vale = await buildVale();
  const files = readSourceTree(ROOT).filter(
    (file) => CHECKED.test(file.path) && !isGenerated(file) && !file.path.startsWith(OWN_RULES),
  );
  return await runVale(
    vale,
    files.map((file) => file.path),
    ROOT,
  );
}

/** @returns what Vale complains about in these files, whose paths start at `directory` */
export async function runVale(vale: string, files: readonly string[], directory: string): Promise<string[]> {
  const args = ["--config", RULES, "--no-exit", "--output", "line", ...files];
  const { stdout } = await execute(vale, args, { cwd: directory, maxBuffer: OUTPUT_BYTES_MAX });
  return stdout.split("\n").filter((line) => line !== "");
}
