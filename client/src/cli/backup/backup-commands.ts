import { command, commandGroup } from "../session/index.ts";
import { CREATE_OPTIONS, DELETE_OPTIONS, LIST_OPTIONS, START_OPTIONS, VERIFY_OPTIONS } from "./backup-options.ts";
import { WHERE_MEMBER_PROGRAM_IS } from "./member-program.ts";

const ON_PORTS = `
It uses the admin ports: those of --endpoints with the admin token of --token-file, else QUOIN_ADMIN_ENDPOINTS and
QUOIN_ADMIN_TOKEN, else those of the context or the local cluster.`;

const ON_STORES = `
LOCATION is a directory, file:///directory, or s3://bucket/prefix with options such as
?endpoint=https://host:9000&region=eu-1&path-style=true&ca-file=/ca.pem. Quote it in a shell.`;

const CREATE = command("create <FILE|LOCATION>", {
  description: "stream the state of a member to a new file, a directory or a bucket",
  options: CREATE_OPTIONS,
  help: `${ON_STORES}\n${ON_PORTS}`,
  run: async (session, target, options) => {
    const { createBackup } = await import("./backup-create.ts");
    await createBackup(session, target, options);
  },
});

const START = command("start", {
  description: "let a member make a backup in its own store",
  options: START_OPTIONS,
  help: ON_PORTS,
  run: async (session, options) => {
    const { startBackup } = await import("./backup-status.ts");
    await startBackup(session, options);
  },
});

const STATUS = command("status [ID]", {
  description: "show stores, last backups and the archive of each member; or one backup",
  help: ON_PORTS,
  run: async (session, id) => {
    const { showBackupStatus } = await import("./backup-status.ts");
    await showBackupStatus(session, id);
  },
});

const LIST = command("list [LOCATION]", {
  description: "list the backups in a directory or bucket, or in the members' store, and how far each reaches",
  options: LIST_OPTIONS,
  help: `${ON_STORES}\n\nWithout LOCATION:${ON_PORTS}`,
  run: async (session, location, options) => {
    const { listBackups } = await import("./backup-list.ts");
    await listBackups(session, location, options);
  },
});

const VERIFY = command("verify <FILE|LOCATION>", {
  description: "read a backup to the last byte, and check formats, hashes and the order of its objects",
  options: VERIFY_OPTIONS,
  help: `${ON_STORES}\n\nIt does not rebuild the state. To do that, run: quoin-node backup verify\n${WHERE_MEMBER_PROGRAM_IS}`,
  run: async (session, target, options) => {
    const { verifyBackup } = await import("./backup-verify.ts");
    await verifyBackup(session, target, options);
  },
});

const DELETE = command("delete <LOCATION> <ID>", {
  description: "delete a backup, with the segments that only it needs; never the last restorable one",
  options: DELETE_OPTIONS,
  help: ON_STORES,
  run: async (session, location, id, options) => {
    const { deleteBackup } = await import("./backup-delete.ts");
    await deleteBackup(session, location, id, options);
  },
});

/** The commands of the group. */
export const BACKUP_COMMANDS = commandGroup("", [CREATE, START, STATUS, LIST, VERIFY, DELETE]);
