/**
 * Puts the mutant that the environment names into its module, as that loads.
 *
 * Loaded with `--import` before the program, in each of its processes and threads. Types are stripped afterwards, by
 * Node itself. Says on standard error, past all that the program may have put there, that the mutant is in place: a run
 * that never loads the module shows nothing about it.
 */

import fs from "node:fs";
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { mutantNamed } from "./catalogue.ts";
import { mutated, pathOf } from "./mutant.ts";
import { IN_PLACE, MUTANT_VARIABLE } from "./place.ts";

const STANDARD_ERROR = 2;
// As it is now: what is loaded later may watch what the program writes.
const { writeSync } = fs;

const name = process.env[MUTANT_VARIABLE];
if (name === undefined) {
  throw new Error(`${MUTANT_VARIABLE} names the mutant`);
}
const mutant = mutantNamed(name);
const url = pathToFileURL(pathOf(mutant)).href;

registerHooks({
  load(loaded, context, nextLoad) {
    const result = nextLoad(loaded, context);
    if (loaded !== url) {
      return result;
    }
    const source = mutated(Buffer.from(result.source as Uint8Array).toString("utf8"), mutant);
    writeSync(STANDARD_ERROR, `${IN_PLACE}\n`);
    return { ...result, source };
  },
});
