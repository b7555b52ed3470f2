/**
 * The commands of the first level. Only their names and descriptions are loaded at once: the rest of a command is
 * loaded when the command line names it, so that a short command starts quickly.
 */

import type { Command } from "commander";
import type { Session } from "./session/index.ts";

/** A command of the first level. */
export interface CommandGroup {
  readonly name: string;
  readonly description: string;
  /** Adds its arguments, options and subcommands. */
  readonly complete: (command: Command, session: Session) => Promise<void>;
}

/** All commands of the first level, in the order of the help. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    name: "namespace",
    description: "manage namespaces",
    complete: async (...parts) => (await import("./kv/index.ts")).addNamespaceCommands(...parts),
  },
  {
    name: "kv",
    description: "read and write keys",
    complete: async (...parts) => (await import("./kv/index.ts")).addKeyValueCommands(...parts),
  },
  {
    name: "lock",
    description: "create, hold and inspect exclusive locks",
    complete: async (...parts) => (await import("./locks/index.ts")).addLockCommands(...parts),
  },
  {
    name: "rwlock",
    description: "create, hold and inspect read-write locks",
    complete: async (...parts) => (await import("./locks/index.ts")).addReadWriteLockCommands(...parts),
  },
  {
    name: "memory",
    description: "allocate, read and write memory regions",
    complete: async (...parts) => (await import("./memory/index.ts")).addMemoryCommands(...parts),
  },
  {
    name: "watch",
    description: "print changes as they happen, until interrupted",
    complete: async (...parts) => (await import("./watch/index.ts")).addWatchCommands(...parts),
  },
  {
    name: "log",
    description: "create, append to, read and follow event logs",
    complete: async (...parts) => (await import("./logs/index.ts")).addLogCommands(...parts),
  },
  {
    name: "member",
    description: "list and change the members of the cluster (needs admin)",
    complete: async (...parts) => (await import("./cluster/index.ts")).addMemberCommands(...parts),
  },
  {
    name: "leader",
    description: "name the leader, or transfer the leadership",
    complete: async (...parts) => (await import("./cluster/index.ts")).addLeaderCommands(...parts),
  },
  {
    name: "settings",
    description: "list and change settings of the cluster (needs admin)",
    complete: async (...parts) => (await import("./cluster/index.ts")).addSettingsCommands(...parts),
  },
  {
    name: "status",
    description: "show the members of the cluster and their state",
    complete: async (...parts) => (await import("./cluster/index.ts")).addStatusCommand(...parts),
  },
  {
    name: "context",
    description: "choose the cluster for the next commands",
    complete: async (...parts) => (await import("./contexts/index.ts")).addContextCommands(...parts),
  },
  {
    name: "login",
    description: "log in with an e-mail address and a password, and save the access in the context",
    complete: async (...parts) => (await import("./contexts/index.ts")).addLoginCommand(...parts),
  },
  {
    name: "logout",
    description: "end the access that login saved in the context",
    complete: async (...parts) => (await import("./contexts/index.ts")).addLogoutCommand(...parts),
  },
  {
    name: "whoami",
    description: "show whose credentials these are, what they allow, and until when",
    complete: async (...parts) => (await import("./accounts/index.ts")).addWhoamiCommand(...parts),
  },
  {
    name: "token",
    description: "print an access token, for grpcurl, curl and other clients",
    complete: async (...parts) => (await import("./accounts/index.ts")).addTokenCommand(...parts),
  },
  {
    name: "key",
    description: "manage API keys",
    complete: async (...parts) => (await import("./accounts/index.ts")).addKeyCommands(...parts),
  },
  {
    name: "user",
    description: "manage users (needs the role admin, except for your own password)",
    complete: async (...parts) => (await import("./accounts/index.ts")).addUserCommands(...parts),
  },
  {
    name: "owner",
    description: "let the owner of the cluster log in again (needs an admin token)",
    complete: async (...parts) => (await import("./accounts/index.ts")).addOwnerCommands(...parts),
  },
  {
    name: "backup",
    description: "create, list, verify and delete backups (needs an admin token)",
    complete: async (...parts) => (await import("./backup/index.ts")).addBackupCommands(...parts),
  },
  {
    name: "usage",
    description: "show the usage by hour or day, or the current usage of namespaces; by API key with -o json",
    complete: async (...parts) => (await import("./accounts/index.ts")).addUsageCommand(...parts),
  },
  {
    name: "completion",
    description: "print a completion script for a shell",
    complete: async (...parts) => (await import("./completion/index.ts")).addCompletionCommand(...parts),
  },
];
