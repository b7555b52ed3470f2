/**
 * `quoinctl backup …`. Each command loads its implementation when it runs. Most commands do not need backups, and so
 * start without formats, encryption and stores.
 */

import type { Command } from "commander";
import type { Session } from "../session/index.ts";
import type { DeleteOptions } from "./backup-delete.ts";
import type { ListOptions } from "./backup-list.ts";
import type { StartOptions } from "./backup-status.ts";
import type { BackupTargetOptions } from "./backup-target.ts";
import type { VerifyOptions } from "./backup-verify.ts";
import { WHERE_MEMBER_PROGRAM_IS } from "./member-program.ts";

const ON_PORTS = `
It uses the admin ports: those of --endpoints with the admin token of --token-file, else QUOIN_ADMIN_ENDPOINTS and
QUOIN_ADMIN_TOKEN, else those of the context or the local cluster.`;

const ON_STORES = `
LOCATION is a directory, file:///directory, or s3://bucket/prefix with options such as
?endpoint=https://host:9000&region=eu-1&path-style=true&ca-file=/ca.pem. Quote it in a shell.`;

const ALLOWING_UNENCRYPTED = "with --key-file, read also what is not encrypted";

/** Adds the commands to their group. */
export function addBackupCommands(backup: Command, session: Session): void {
  addCreate(backup, session);
  addStart(backup, session);
  addStatus(backup, session);
  addList(backup, session);
  addVerify(backup, session);
  addDelete(backup, session);
}

function addCreate(backup: Command, session: Session): void {
  withTargetOptions(
    backup.command("create <FILE|LOCATION>"),
    "file with the key that encrypts the backup; without it, the backup is not encrypted",
  )
    .description("stream the state of a member to a new file, a directory or a bucket")
    .addHelpText("after", `${ON_STORES}\n${ON_PORTS}`)
    .action(async (target: string, options: BackupTargetOptions) => {
      const { createBackup } = await import("./backup-create.ts");
      await createBackup(session, target, options);
    });
}

function addStart(backup: Command, session: Session): void {
  backup
    .command("start")
    .description("let a member make a backup in its own store")
    .option("--if-store <STORE>", "only if the member has this store, as backup status shows it")
    .option("--allow-leaderless", "also on a member without a leader, whose state may miss acknowledged writes")
    .option("--wait", "wait until the backup has ended")
    .addHelpText("after", ON_PORTS)
    .action(async (options: StartOptions) => {
      const { startBackup } = await import("./backup-status.ts");
      await startBackup(session, options);
    });
}

function addStatus(backup: Command, session: Session): void {
  backup
    .command("status [ID]")
    .description("show stores, last backups and the archive of each member; or one backup")
    .addHelpText("after", ON_PORTS)
    .action(async (id: string | undefined) => {
      const { showBackupStatus } = await import("./backup-status.ts");
      await showBackupStatus(session, id);
    });
}

function addList(backup: Command, session: Session): void {
  backup
    .command("list [LOCATION]")
    .description("list the backups in a directory or bucket, or in the members' store, and how far each reaches")
    .option("--cluster <ID>", "id of the cluster, if the store has backups of several")
    .option("--credentials-file <FILE>", "credentials for s3:// in the AWS format")
    .addHelpText("after", `${ON_STORES}\n\nWithout LOCATION:${ON_PORTS}`)
    .action(async (location: string | undefined, options: ListOptions) => {
      const { listBackups } = await import("./backup-list.ts");
      await listBackups(session, location, options);
    });
}

function addVerify(backup: Command, session: Session): void {
  withTargetOptions(backup.command("verify <FILE|LOCATION>"), "file with the keys of the backup")
    .description("read a backup to the last byte, and check formats, hashes and the order of its objects")
    .option("--allow-unencrypted", ALLOWING_UNENCRYPTED)
    .option("--cluster <ID>", "id of the cluster, if the store has backups of several")
    .option("--backup <ID>", "the backup with this id (default: the one that reaches furthest)")
    .addHelpText(
      "after",
      `${ON_STORES}\n\nIt does not rebuild the state. To do that, run: quoin-node backup verify\n${WHERE_MEMBER_PROGRAM_IS}`,
    )
    .action(async (target: string, options: VerifyOptions) => {
      const { verifyBackup } = await import("./backup-verify.ts");
      await verifyBackup(session, target, options);
    });
}

function addDelete(backup: Command, session: Session): void {
  withTargetOptions(
    backup.command("delete <LOCATION> <ID>"),
    "file with the keys of another backup, which must be intact",
  )
    .description("delete a backup, with the segments that only it needs; never the last restorable one")
    .option("--allow-unencrypted", ALLOWING_UNENCRYPTED)
    .option("--cluster <ID>", "id of the cluster, if the store has backups of several")
    .option("--yes", "do not ask")
    .option("--allow-last", "also if no other backup is left, is intact, or reaches as far")
    .addHelpText("after", ON_STORES)
    .action(async (location: string, id: string, options: DeleteOptions) => {
      const { deleteBackup } = await import("./backup-delete.ts");
      await deleteBackup(session, location, id, options);
    });
}

function withTargetOptions(command: Command, keys: string): Command {
  return command
    .option("--key-file <FILE>", keys)
    .option("--credentials-file <FILE>", "credentials for s3:// in the AWS format");
}
