/**
 * `quoinctl backup …`. What they do is loaded when one of them runs: most commands have nothing to do with backups, and start
 * without formats, encryption and stores.
 */

import type { Command } from "commander";
import type { DeleteOptions } from "./backup-delete.ts";
import type { ListOptions } from "./backup-list.ts";
import type { BackupPlaceOptions } from "./backup-location.ts";
import type { StartOptions } from "./backup-status.ts";
import type { VerifyOptions } from "./backup-verify.ts";
import type { Session } from "./session.ts";

const onPorts = `
It asks the ports for administration: those of --endpoints with the admin token of --token-file, else QUOIN_ADMIN_ENDPOINTS and
QUOIN_ADMIN_TOKEN, else those that the context or the local cluster names.`;

const onStores = `
LOCATION is a directory, file:///directory, or s3://bucket/prefix with options such as
?endpoint=https://host:9000&region=eu-1&path-style=true&ca-file=/ca.pem. Quote it in a shell.`;

/** Adds the commands to the program. */
export function addBackupCommands(program: Command, session: Session): void {
  const backup = program.command("backup").description("make, list, verify and delete backups (needs an admin token)");
  addCreate(backup, session);
  addStart(backup, session);
  addStatus(backup, session);
  addList(backup, session);
  addVerify(backup, session);
  addDelete(backup, session);
}

function addCreate(backup: Command, session: Session): void {
  withPlaceOptions(
    backup.command("create <FILE|LOCATION>"),
    "key that encrypts the backup; without it, it is not encrypted",
  )
    .description("stream the state of a member into a new file, a directory or a bucket")
    .addHelpText("after", `${onStores}\n${onPorts}`)
    .action(async (place: string, options: BackupPlaceOptions) => {
      const { createBackup } = await import("./backup-create.ts");
      await createBackup(session, place, options);
    });
}

function addStart(backup: Command, session: Session): void {
  backup
    .command("start")
    .description("let a member make a backup into its own store")
    .option("--if-store <STORE>", "only if the member has this store, as backup status shows it")
    .option("--allow-leaderless", "also at a member without a leader, whose state may miss acknowledged writes")
    .option("--wait", "wait until the backup has ended")
    .addHelpText("after", onPorts)
    .action(async (options: StartOptions) => {
      const { startBackup } = await import("./backup-status.ts");
      await startBackup(session, options);
    });
}

function addStatus(backup: Command, session: Session): void {
  backup
    .command("status [ID]")
    .description("show stores, last backups and the archive, member by member; or one backup")
    .addHelpText("after", onPorts)
    .action(async (id: string | undefined) => {
      const { showBackupStatus } = await import("./backup-status.ts");
      await showBackupStatus(session, id);
    });
}

function addList(backup: Command, session: Session): void {
  backup
    .command("list [LOCATION]")
    .description("list the backups of a directory or bucket, or of the members' store, and how far each reaches")
    .option("--cluster <ID>", "id of the cluster, if the store has backups of several")
    .option("--credentials-file <FILE>", "credentials for s3:// in the form of AWS")
    .addHelpText("after", `${onStores}\n\nWithout LOCATION:${onPorts}`)
    .action(async (location: string | undefined, options: ListOptions) => {
      const { listBackups } = await import("./backup-list.ts");
      await listBackups(session, location, options);
    });
}

function addVerify(backup: Command, session: Session): void {
  withPlaceOptions(backup.command("verify <FILE|LOCATION>"), "keys that the backup is encrypted with")
    .description("read a backup to the last byte, and check formats, hashes and the order of its objects")
    .option("--cluster <ID>", "id of the cluster, if the store has backups of several")
    .option("--backup <ID>", "the backup with this id; by default the one that reaches furthest")
    .addHelpText("after", `${onStores}\n\nIt does not rebuild the state. That does: quoin-node backup verify`)
    .action(async (place: string, options: VerifyOptions) => {
      const { verifyBackup } = await import("./backup-verify.ts");
      await verifyBackup(session, place, options);
    });
}

function addDelete(backup: Command, session: Session): void {
  withPlaceOptions(backup.command("delete <LOCATION> <ID>"), "keys to read another backup with, which has to be whole")
    .description("delete a backup, with the segments that only it leads to; never the last one that can be restored")
    .option("--cluster <ID>", "id of the cluster, if the store has backups of several")
    .option("--yes", "do not ask")
    .option("--allow-last", "also if no other backup is left, is whole, or reaches as far")
    .addHelpText("after", onStores)
    .action(async (location: string, id: string, options: DeleteOptions) => {
      const { deleteBackup } = await import("./backup-delete.ts");
      await deleteBackup(session, location, id, options);
    });
}

function withPlaceOptions(command: Command, keys: string): Command {
  return command
    .option("--key-file <FILE>", keys)
    .option("--credentials-file <FILE>", "credentials for s3:// in the form of AWS");
}
