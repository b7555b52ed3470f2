/** `quoinctl election …` */

import type { Leader } from "../../index.ts";
import { option } from "../arguments/index.ts";
import {
  EVENT_OPTIONS,
  type EventForms,
  eventUsage,
  handleEvents,
  KILL_AFTER_OPTION,
  wordsBehind,
} from "../running/index.ts";
import { command, commandGroup } from "../session/index.ts";
import { bytesDocument, displayValue, parsePositiveCount, parseWaitMs } from "../text/index.ts";
import { LONGEST_WAIT_MS, ownHold, parseLock, TTL_OPTION } from "./lock-commands.ts";
import type { LockTarget } from "./lock-kinds.ts";
import { lockCell } from "./lock-result.ts";
import { runWithLock } from "./locked-command.ts";

/** Characters of a value that a line shows. */
const SHOWN_CHARACTERS = 60;

const CAMPAIGN_HELP = `
The command has QUOIN_NAMESPACE, QUOIN_LOCK, QUOIN_LOCK_OWNER and QUOIN_FENCING_TOKEN in its environment, as that of lock
run has. When the leadership is lost, the command and the processes that it has started are terminated, and the exit code
is 1. Example:

  quoinctl election campaign default/scheduler "$(hostname):8080" -- ./scheduler.sh`;

const CAMPAIGN = command("campaign <NAMESPACE/NAME> <VALUE> <COMMAND...>", {
  description:
    "wait until this process leads, run a command while it does, and end with its exit code; 4 if others led",
  options: {
    ttl: TTL_OPTION,
    wait: option("<DURATION>", "how long to wait for the leadership, 0 = not at all", parseWaitMs).byDefault(
      LONGEST_WAIT_MS,
      "as long as the service allows, 59m50s",
    ),
    killAfter: KILL_AFTER_OPTION,
  },
  usage: "[options] <NAMESPACE/NAME> <VALUE> -- <COMMAND...>",
  help: CAMPAIGN_HELP,
  run: async (session, text, value, words, { ttl: ttlSeconds, wait: waitMs, killAfter: killAfterMs }) => {
    const { namespace, name } = parseLock(text);
    session.exitCode = await session.withClient(async (client) => {
      await using leadership = await client.election(namespace, name).campaign(value, { ttlSeconds, waitMs });
      return await runWithLock(session.terminal, leadership.hold, { words, killAfterMs });
    });
  },
});

const OBSERVE = command("observe <NAMESPACE/NAME> [COMMAND...]", {
  description: "print the leader, and each later one, until interrupted; or run a command for each",
  options: EVENT_OPTIONS,
  usage: eventUsage("<NAMESPACE/NAME>"),
  help: `
The environment of the command has QUOIN_EVENT (LEADER or NONE), QUOIN_EVENT_NAMESPACE, QUOIN_EVENT_LOCK and
QUOIN_EVENT_TOKEN. Its standard input is the value of the leader.`,
  run: async (session, text, words, options) => {
    const program = wordsBehind(session, words);
    const target = parseLock(text);
    await session.withClient(async (client) => {
      const events = client.election(target.namespace, target.name).observe();
      await handleEvents(session, events, leaderForms(target), program, options);
    });
  },
});

const RESIGN = command("resign <NAMESPACE/NAME>", {
  description: "end a leadership; the next candidate leads at once",
  options: {
    token: option(
      "<N>",
      "the leadership with this token, as observe prints it (default: that of campaign, inside of it)",
      parsePositiveCount,
    ),
  },
  run: async (session, text, { token: fencingToken }) => {
    const target = parseLock(text);
    const { namespace, name } = target;
    const hold = fencingToken === undefined ? ownHold(session, target, { command: "lock" }) : { fencingToken };
    const { revision } = await session.withClient(({ locks }) => locks.release(namespace, name, hold));
    await session.print({
      document: { namespace, name, released: true, revision },
      shown: { columns: ["LOCK", "RELEASED", "REVISION"], rows: [[lockCell(target), true, revision]] },
    });
  },
});

/** The commands of elections. */
export const ELECTION_COMMANDS = commandGroup(
  `
Examples:

  quoinctl election campaign default/scheduler host-a:8080 -- ./scheduler.sh
  quoinctl election observe default/scheduler
  quoinctl election resign default/scheduler --token 17`,
  [CAMPAIGN, OBSERVE, RESIGN],
);

function leaderForms({ namespace, name }: LockTarget): EventForms<Leader | undefined> {
  const bytesOf = (leader: Leader | undefined) => new TextEncoder().encode(leader?.value ?? "");
  return {
    document: (leader) => ({
      namespace,
      name,
      fencing_token: leader?.fencingToken ?? 0,
      ...bytesDocument("value", bytesOf(leader)),
    }),
    line: (leader) =>
      leader === undefined
        ? "no leader"
        : `token ${leader.fencingToken}  ${displayValue(bytesOf(leader), SHOWN_CHARACTERS)}`,
    name: (leader) => `the leader with token ${leader?.fencingToken ?? 0} of ${namespace}/${name}`,
    variables: (leader) => ({
      "": leader === undefined ? "NONE" : "LEADER",
      _NAMESPACE: namespace,
      _LOCK: name,
      _TOKEN: leader?.fencingToken ?? 0,
    }),
    value: bytesOf,
  };
}
