/**
 * Puts the mutant that the environment names into its module when that loads; if the name is empty, none.
 *
 * `--import` loads this file before the program, in each of its processes and threads. Node itself strips the types
 * afterwards. This file reports on standard error that the mutant is in place, even if the program has replaced the
 * writers of that stream. A run that never loads the module proves nothing about the mutant.
 */

import fs from "node:fs";
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { mutated, pathOf } from "./mutant.ts";
import { LOADED_LINE, MUTANT_VARIABLE } from "./mutant-variable.ts";

const STANDARD_ERROR = 2;
// The function as it is now: modules that load later may replace it.
const { writeSync } = fs;

const name = process.env[MUTANT_VARIABLE];
if (name === undefined) {
  throw new Error(`${MUTANT_VARIABLE} names the mutant, or is empty`);
}
if (name !== "") {
  // Only here: most threads have none.
  const { mutantNamed } = await import("./catalogue.ts");
  const mutant = mutantNamed(name);
  const url = pathToFileURL(pathOf(mutant)).href;
  registerHooks({
    load(loaded, context, nextLoad) {
      const result = nextLoad(loaded, context);
      if (loaded !== url) {
        return result;
      }
      const source = mutated(Buffer.from(result.source as Uint8Array).toString("utf8"), mutant);
      writeSync(STANDARD_ERROR, `${LOADED_LINE}\n`);
      return { ...result, source };
    },
  });
}
