/** What the launcher prints when the cluster runs: its addresses, and commands to try. */

import { resolve } from "node:path";
import type { LocalCluster, StartedMember } from "./local-cluster.ts";
import type { LocalOptions } from "./options.ts";

/** Where quoinctl looks by default. */
const DATA_DIRECTORY_DEFAULT = ".quoin";
/** A word that every shell takes literally. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** The commands by which the user started the launcher, and starts others. */
export interface LauncherCommands {
  /** Starts the launcher; its options follow. */
  readonly start: string;
  readonly quoinctl: string;
}

export function greeting(cluster: LocalCluster, options: LocalOptions, launched: LauncherCommands): string {
  const { endpoints, endpointsFile, members } = cluster;
  const { owner, apiKey } = endpoints;
  return `
${memberTable(members)}

  Console   ${members.find(({ state }) => state === "RUNNING")?.http ?? members[0]?.http}/console/
  Owner     ${owner.email}, password ${owner.password}
  API key   ${apiKey}
  (also in ${endpointsFile})

Try, in another shell:
${commands(cluster, options, launched).join("\n")}

Data is kept in ${options.dataDirectory}. Ctrl-C stops the cluster.
`;
}

/** The command that starts a member again, from the folder in which the launcher was started. */
export function restartCommand(name: string, dataDirectory: string, { start }: LauncherCommands): string {
  const directory = resolve(dataDirectory);
  const isDefault = directory === resolve(DATA_DIRECTORY_DEFAULT);
  return `${start} --member ${name}${isDefault ? "" : ` --data-dir ${quoted(directory)}`}`;
}

function commands(
  { endpointsFile, members }: LocalCluster,
  options: LocalOptions,
  launched: LauncherCommands,
): string[] {
  const isDefault = options.dataDirectory === DATA_DIRECTORY_DEFAULT;
  const quoinctl = `${isDefault ? "" : `QUOIN_ENDPOINTS_FILE=${quoted(endpointsFile)} `}${launched.quoinctl}`;
  const first = [`  ${quoinctl} kv put default/greeting hello`, `  ${quoinctl} kv get default/greeting`];
  const leader = members.find(({ isLeader }) => isLeader);
  const follower = members.find(({ isLeader, state }) => !isLeader && state === "RUNNING");
  if (leader === undefined || follower === undefined) {
    return [...first, `  ${quoinctl} status`];
  }
  return [
    ...first,
    `  ${quoinctl} --endpoints ${follower.grpc} kv get default/greeting`,
    `  ${quoinctl} status`,
    "",
    `Kill ${leader.name}, the leader, see the others continue, and start it again in another shell:`,
    `  kill -9 ${leader.pid}`,
    `  ${quoinctl} kv put default/greeting "still here"`,
    `  ${restartCommand(leader.name, options.dataDirectory, launched)}`,
  ];
}

function memberTable(members: readonly StartedMember[]): string {
  const rows = members.map(({ name, pid, grpc, http, state, isLeader }) => [
    name,
    String(pid),
    grpc,
    http,
    isLeader ? `${state}, leader` : state,
  ]);
  const table = [["Member", "Process", "gRPC", "HTTP", "State"], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  return table
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd())
    .join("\n");
}

function quoted(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
