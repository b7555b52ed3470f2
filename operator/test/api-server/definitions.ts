/** The definitions of the operator's kinds, from this repository. */
import { readdirSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import type { Store } from "./store.ts";

const FOLDER = new URL("../../../crds/", import.meta.url);

export function installDefinitions(store: Store): void {
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"))) {
    const { kind, metadata } = parse(readFileSync(new URL(file, FOLDER), "utf8"));
    store.create("customresourcedefinitions", "", { kind, metadata });
  }
}
