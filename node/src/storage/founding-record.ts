/**
 * Which cluster this is and which data directory may found it, as it was written down outside of all data before the
 * founding: a directory with a file for each of the three facts, as a ConfigMap is mounted.
 *
 * The record may come later than the member, and while there is none nothing is said. It is read at each question. One
 * that cannot be understood permits nothing new, and takes nothing from a member that has its data.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { UUID_PATTERN } from "./identity.ts";

/** What is written down, or why that cannot be told. */
type Reading =
  | { readonly kind: "none" }
  | { readonly kind: "unusable"; readonly problem: string }
  | { readonly kind: "record"; readonly clusterId: string; readonly founder: string; readonly incarnation: string };

/** The record of a cluster whose first record was lost names no founder: nobody founds it again. */
const INCARNATION_PATTERN = /^([0-9a-f]{32}|-)$/;

export class FoundingRecord {
  readonly #directory: string;

  /** @param directory with the files `clusterId`, `founder` and `founderIncarnation`, or none of them. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** UUID of the cluster; null if none is written down, or it cannot be understood. */
  get clusterId(): string | null {
    const reading = this.#read();
    return reading.kind === "record" ? reading.clusterId : null;
  }

  /** Why the record cannot be understood; null if it can, or there is none. */
  get problem(): string | null {
    const reading = this.#read();
    return reading.kind === "unusable" ? reading.problem : null;
  }

  /** Why this data directory must not found this cluster; null if it may. */
  objectionToFounding(clusterId: string, incarnation: string): string | null {
    const reading = this.#read();
    if (reading.kind !== "record") {
      return reading.kind === "unusable" ? reading.problem : null;
    }
    return reading.clusterId === clusterId && reading.incarnation === incarnation
      ? null
      : `${this.#directory} says that cluster ${reading.clusterId} is founded by "${reading.founder}" with the data ` +
          `directory ${reading.incarnation}, and by no other`;
  }

  /** Why what belongs to this cluster does not belong here; null unless the record says so. */
  objectionTo(clusterId: string): string | null {
    const reading = this.#read();
    return reading.kind === "record" && reading.clusterId !== clusterId
      ? `${this.#directory} names cluster ${reading.clusterId}, not ${clusterId}`
      : null;
  }

  #read(): Reading {
    try {
      const clusterId = this.#fact("clusterId");
      if (clusterId === null) {
        return { kind: "none" };
      }
      const founder = this.#fact("founder") ?? "";
      const incarnation = this.#fact("founderIncarnation") ?? "";
      if (!UUID_PATTERN.test(clusterId) || founder === "" || !INCARNATION_PATTERN.test(incarnation)) {
        return this.#unusable("it lacks files or has wrong ones");
      }
      return { kind: "record", clusterId, founder, incarnation };
    } catch (error) {
      if (error instanceof Error && "syscall" in error) {
        return this.#unusable(error.message);
      }
      throw error;
    }
  }

  #unusable(why: string): Reading {
    return { kind: "unusable", problem: `the founding record ${this.#directory} cannot be used: ${why}` };
  }

  #fact(name: string): string | null {
    try {
      return readFileSync(join(this.#directory, name), "utf8").trim();
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") {
        return null;
      }
      throw error;
    }
  }
}
