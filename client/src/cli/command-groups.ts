/**
 * The commands of the first level. Only their names and descriptions are loaded at once: the rest of a command is
 * loaded when the command line names it, so that a short command starts quickly.
 */

import type { CompleteCommand } from "./session/index.ts";

/** A command of the first level. */
export interface CommandGroup {
  readonly name: string;
  readonly description: string;
  /** Loads what adds its arguments, options and subcommands. */
  readonly load: () => Promise<CompleteCommand>;
}

/** All commands of the first level, in the order of the help. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    name: "namespace",
    description: "manage namespaces",
    load: async () => (await import("./kv/index.ts")).NAMESPACE_COMMANDS,
  },
  {
    name: "kv",
    description: "read and write keys",
    load: async () => (await import("./kv/index.ts")).KEY_VALUE_COMMANDS,
  },
  {
    name: "txn",
    description: "run operations on a namespace as one change, if conditions are true",
    load: async () => (await import("./transactions/index.ts")).TRANSACTION,
  },
  {
    name: "lock",
    description: "create, hold and inspect exclusive locks",
    load: async () => (await import("./locks/index.ts")).LOCK_COMMANDS,
  },
  {
    name: "rwlock",
    description: "create, hold and inspect read-write locks",
    load: async () => (await import("./locks/index.ts")).READ_WRITE_LOCK_COMMANDS,
  },
  {
    name: "semaphore",
    description: "create, hold and inspect semaphores",
    load: async () => (await import("./locks/index.ts")).SEMAPHORE_COMMANDS,
  },
  {
    name: "election",
    description: "lead, observe and resign in elections",
    load: async () => (await import("./locks/index.ts")).ELECTION_COMMANDS,
  },
  {
    name: "session",
    description: "create, keep and end sessions, with which keys end",
    load: async () => (await import("./sessions/index.ts")).SESSION_COMMANDS,
  },
  {
    name: "memory",
    description: "allocate, read and write memory regions",
    load: async () => (await import("./memory/index.ts")).MEMORY_COMMANDS,
  },
  {
    name: "watch",
    description: "print changes as they happen, until interrupted",
    load: async () => (await import("./watch/index.ts")).WATCH_COMMANDS,
  },
  {
    name: "log",
    description: "create, append to, read and follow event logs",
    load: async () => (await import("./logs/index.ts")).LOG_COMMANDS,
  },
  {
    name: "member",
    description: "list and change the members of the cluster (needs admin)",
    load: async () => (await import("./cluster/index.ts")).MEMBER_COMMANDS,
  },
  {
    name: "leader",
    description: "name the leader, or transfer the leadership",
    load: async () => (await import("./cluster/index.ts")).LEADER_COMMANDS,
  },
  {
    name: "settings",
    description: "list and change settings of the cluster (needs admin)",
    load: async () => (await import("./cluster/index.ts")).SETTINGS_COMMANDS,
  },
  {
    name: "status",
    description: "show the members of the cluster and their state",
    load: async () => (await import("./cluster/index.ts")).STATUS,
  },
  {
    name: "context",
    description: "choose the cluster for the next commands",
    load: async () => (await import("./contexts/index.ts")).CONTEXT_COMMANDS,
  },
  {
    name: "login",
    description: "log in with an e-mail address and a password, and save the access in the context",
    load: async () => (await import("./contexts/index.ts")).LOGIN,
  },
  {
    name: "logout",
    description: "end the access that login saved in the context",
    load: async () => (await import("./contexts/index.ts")).LOGOUT,
  },
  {
    name: "whoami",
    description: "show whose credentials these are, what they allow, and until when",
    load: async () => (await import("./accounts/index.ts")).WHOAMI,
  },
  {
    name: "token",
    description: "print an access token, for grpcurl, curl and other clients",
    load: async () => (await import("./accounts/index.ts")).TOKEN,
  },
  {
    name: "key",
    description: "manage API keys",
    load: async () => (await import("./accounts/index.ts")).API_KEY_COMMANDS,
  },
  {
    name: "user",
    description: "manage users (needs the role admin, except for your own address and password)",
    load: async () => (await import("./accounts/index.ts")).USER_COMMANDS,
  },
  {
    name: "owner",
    description: "let the owner of the cluster log in again (needs an admin token)",
    load: async () => (await import("./accounts/index.ts")).OWNER_COMMANDS,
  },
  {
    name: "backup",
    description: "create, list, verify and delete backups (needs an admin token)",
    load: async () => (await import("./backup/index.ts")).BACKUP_COMMANDS,
  },
  {
    name: "usage",
    description: "show the usage by hour or day, or the current usage of namespaces; by API key with -o json",
    load: async () => (await import("./accounts/index.ts")).USAGE,
  },
  {
    name: "completion",
    description: "print a completion script for a shell",
    load: async () => (await import("./completion/index.ts")).COMPLETION,
  },
];
