/**
 * `npm run package [-- --out DIRECTORY]`: builds everything that is published, by default into packages/.
 *
 * - `quoin-VERSION.tgz`, the server with its launcher and quoinctl
 * - `quoin-client-VERSION.tgz`, the SDK and quoinctl
 * - `python/`, the SDK for Python as wheel and sdist, where there is a Python
 * - `go/`, the SDK for Go as a module proxy of files, where there is a Go
 * - `charts/`, the Helm charts as archives, with an index, and as an image layout in `charts/oci/`
 * - with `--executable`, `quoinctl-PLATFORM`, quoinctl as one file that needs no Node
 */

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { packGoModule } from "../../clients/go/scripts/index.ts";
import { buildPythonPackage } from "../../clients/python/index.ts";
import { PythonMissing } from "../../e2e/python/index.ts";
import { repositoryRoot } from "../bundle/index.ts";
import { GoMissing } from "../go/index.ts";
import { packCharts } from "./charts.ts";
import { buildExecutable } from "./executable.ts";
import { packServer } from "./server-package.ts";

const USAGE = "usage: npm run package -- [--out DIRECTORY] [--executable]";

const values = readOptions();

/** Ends the process if there is nothing to build. */
function readOptions() {
  const options = {
    out: { type: "string", default: "packages" },
    executable: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  } as const;
  let given: ReturnType<typeof parseArgs<{ options: typeof options }>>["values"];
  try {
    given = parseArgs({ options }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    process.exit(2);
  }
  if (given.help) {
    console.log(USAGE);
    process.exit(0);
  }
  return given;
}

/** Packs, or says which tool is missing for that. */
async function unlessMissing(
  Missing: typeof PythonMissing | typeof GoMissing,
  pack: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  try {
    return await pack();
  } catch (error) {
    if (!(error instanceof Missing)) {
      throw error;
    }
    console.error(`not packed: ${error.message}`);
    return [];
  }
}

const destination = path.resolve(values.out);
mkdirSync(destination, { recursive: true });
const client = path.join(repositoryRoot, "client/scripts/package.ts");
execFileSync(process.execPath, [client, "--out", destination], { stdio: "inherit" });
const written = [
  await packServer(destination),
  ...(await unlessMissing(PythonMissing, () => buildPythonPackage(path.join(destination, "python")))),
  ...(await unlessMissing(GoMissing, async () => [await packGoModule(path.join(destination, "go"))])),
  ...(await packCharts(path.join(destination, "charts"))),
  ...(values.executable ? [await buildExecutable(destination)] : []),
];
for (const file of written) {
  console.log(path.relative(process.cwd(), file));
}
