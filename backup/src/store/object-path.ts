/**
 * Names of objects in a store: parts separated by slashes. Each part has letters, digits, dots, hyphens and
 * underscores, and does not begin with a dot. So no name leaves a directory, and each name is the same in a bucket.
 */

import { BackupError } from "../format/index.ts";

const PART = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
const PART_LENGTH_MAX = 200;
const LENGTH_MAX = 600;

/** Raises a BackupError (bad-argument) for an invalid name. */
export function requireObjectName(name: string): void {
  const parts = name.split("/");
  if (name.length > LENGTH_MAX || !parts.every((part) => part.length <= PART_LENGTH_MAX && PART.test(part))) {
    throw new BackupError(
      "bad-argument",
      `${JSON.stringify(name)} is not the name of an object: it must be parts of letters, digits, dots, hyphens and underscores, separated by slashes, none beginning with a dot`,
    );
  }
}

/** The same for a prefix of names: empty, or a name that ends with a slash. */
export function requirePrefix(prefix: string): void {
  if (prefix !== "") {
    requireObjectName(prefix.endsWith("/") ? prefix.slice(0, -1) : `${prefix}//`);
  }
}

/** @returns whether an object of a store has a name that we could have given it */
export function isObjectName(name: string): boolean {
  try {
    requireObjectName(name);
    return true;
  } catch (error) {
    if (error instanceof BackupError) {
      return false;
    }
    throw error;
  }
}
