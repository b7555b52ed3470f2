/**
 * The founding record: which cluster this is, and which data directory may found it. It is written outside of all data
 * before the founding, as a directory with one file for each of three facts, like a mounted ConfigMap.
 *
 * The record may appear later than the member. Without a record there is no objection. It is read at each call. An
 * unusable record forbids any founding, but does not stop a member that has its data.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { UUID_PATTERN } from "./identity.ts";

/** The content of the record, or why it cannot be used. */
type Reading =
  | { readonly kind: "none" }
  | { readonly kind: "unusable"; readonly problem: string }
  | { readonly kind: "record"; readonly clusterId: string; readonly founder: string; readonly incarnation: string };

/** "-" is the record of a cluster whose first record was lost: it names no founder, so no directory may found it. */
const INCARNATION_PATTERN = /^([0-9a-f]{32}|-)$/;

export class FoundingRecord {
  readonly #directory: string;

  /** @param directory has the files `clusterId`, `founder` and `founderIncarnation`, or none of them */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** UUID of the cluster; null if there is no record, or it cannot be used. */
  get clusterId(): string | null {
    const reading = this.#read();
    return reading.kind === "record" ? reading.clusterId : null;
  }

  /** Why the record cannot be used; null if it can, or there is none. */
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
      : `${this.#directory} says that only "${reading.founder}" with the data directory ${reading.incarnation} may ` +
          `found cluster ${reading.clusterId}`;
  }

  /** Why data of this cluster does not belong here; null unless the record names another cluster. */
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
