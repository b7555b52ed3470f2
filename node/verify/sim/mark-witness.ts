/**
 * Records which spec passes which mark. Mocha loads it with --require, before the specs. It writes a line of JSON with
 * pairs of marks and files to the file that the environment names. Specs that listen to marks themselves still do: the
 * module of the marks is loaded with one more line.
 */

import { writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
import type { Context, RootHookObject } from "mocha";
import { WITNESS_VARIABLE } from "./mark-record.ts";

const NOTE = "quoinMarkPassed";
const BEFORE = "export function mark(name: string): void {";

const files = new Map<string, string>();
let present = "";

Reflect.set(globalThis, NOTE, (name: string) => {
  if (!files.has(name)) {
    files.set(name, present);
  }
});

registerHooks({
  load(url, context, nextLoad) {
    const result = nextLoad(url, context);
    if (!url.endsWith("/src/primitives/mark.ts")) {
      return result;
    }
    const source = Buffer.from(result.source as Uint8Array).toString("utf8");
    if (!source.includes(BEFORE)) {
      throw new Error(`${url} has no "${BEFORE}" any more`);
    }
    return { ...result, source: source.replace(BEFORE, `${BEFORE} globalThis["${NOTE}"](name);`) };
  },
});

export const mochaHooks: RootHookObject = {
  beforeEach(this: Context) {
    present = this.currentTest?.file ?? "";
  },
  afterAll() {
    writeFileSync(process.env[WITNESS_VARIABLE] ?? "", JSON.stringify([...files]));
  },
};
