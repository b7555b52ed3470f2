/** The options of `quoinctl backup …`, apart from the commands, which are loaded only when they run. */

import { InvalidArgumentError } from "commander";
import { flag, type OptionsOf, option } from "../arguments/index.ts";

/** The form of a cluster's id in the names of objects. */
const CLUSTER_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const CREDENTIALS_FILE = option("<FILE>", "credentials for s3:// in the AWS format");
const ALLOW_UNENCRYPTED = flag("with --key-file, read also what is not encrypted");
const CLUSTER = option("<ID>", "id of the cluster, if the store has backups of several", (text) => {
  if (!CLUSTER_ID.test(text)) {
    throw new InvalidArgumentError("Give a UUID in lower case.");
  }
  return text;
});

export const CREATE_OPTIONS = {
  keyFile: option("<FILE>", "file with the key that encrypts the backup; without it, the backup is not encrypted"),
  credentialsFile: CREDENTIALS_FILE,
};

export const START_OPTIONS = {
  ifStore: option("<STORE>", "only if the member has this store, as backup status shows it"),
  allowLeaderless: flag("also on a member without a leader, whose state may miss acknowledged writes"),
  wait: flag("wait until the backup has ended"),
};

export const LIST_OPTIONS = { cluster: CLUSTER, credentialsFile: CREDENTIALS_FILE };

export const VERIFY_OPTIONS = {
  keyFile: option("<FILE>", "file with the keys of the backup"),
  credentialsFile: CREDENTIALS_FILE,
  allowUnencrypted: ALLOW_UNENCRYPTED,
  cluster: CLUSTER,
  backup: option("<ID>", "the backup with this id (default: the one that reaches furthest)"),
};

export const DELETE_OPTIONS = {
  keyFile: option("<FILE>", "file with the keys of another backup, which must be intact"),
  credentialsFile: CREDENTIALS_FILE,
  allowUnencrypted: ALLOW_UNENCRYPTED,
  cluster: CLUSTER,
  yes: flag("do not ask"),
  allowLast: flag("also if no other backup is left, is intact, or reaches as far"),
};

export type CreateOptions = OptionsOf<typeof CREATE_OPTIONS>;
export type StartOptions = OptionsOf<typeof START_OPTIONS>;
export type ListOptions = OptionsOf<typeof LIST_OPTIONS>;
export type VerifyOptions = OptionsOf<typeof VERIFY_OPTIONS>;
export type DeleteOptions = OptionsOf<typeof DELETE_OPTIONS>;
