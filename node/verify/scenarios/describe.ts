/** Describes messages, writes and states in short lines of text, for scenario files and traces. */

import {
  type AppendEffect,
  type Configuration,
  EntryType,
  entryIndex,
  entryTerm,
  entryType,
  type Message,
  type Progress,
  type RaftCore,
} from "../../src/raft/index.ts";
import type { Member } from "./member.ts";

const ENTRY_NAMES: readonly string[] = ["", "empty", "", "bootstrap", "add-slot", "reconfigure", "leave"];

/** Entries as index/term, runs of commands of a term as first..last/term. */
export function describeRows(rows: readonly Uint8Array[]): string {
  const parts: string[] = [];
  for (let at = 0; at < rows.length; ) {
    const row = rows[at] as Uint8Array;
    const term = entryTerm(row);
    let end = at + 1;
    if (entryType(row) === EntryType.Command) {
      while (end < rows.length && isCommandOf(rows[end] as Uint8Array, term)) {
        end++;
      }
      const last = entryIndex(rows[end - 1] as Uint8Array);
      parts.push(end - at === 1 ? `${last}/${term}` : `${entryIndex(row)}..${last}/${term}`);
    } else {
      parts.push(`${entryIndex(row)}/${term}:${ENTRY_NAMES[entryType(row)]}`);
    }
    at = end;
  }
  return `[${parts.join(" ")}]`;
}

function isCommandOf(row: Uint8Array, term: number): boolean {
  return entryType(row) === EntryType.Command && entryTerm(row) === term;
}

/** "1>2 Append t2 after 5/1 [6/2:empty] commit 5". */
export function describeMessage(message: Message): string {
  return `${message.from}>${message.to} ${describeKind(message)}`;
}

/** The name that scenario files use for a type of message. */
export function messageName(type: Message["type"]): string {
  return type
    .split("-")
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join("");
}

function describeKind(message: Message): string {
  const name = `${messageName(message.type)} t${message.term}`;
  switch (message.type) {
    case "vote":
    case "pre-vote": {
      const transfer = message.type === "vote" && message.transfer ? " transfer" : "";
      return `${name} last ${message.lastIndex}/${message.lastTerm}${transfer}`;
    }
    case "vote-reply":
    case "pre-vote-reply":
      return `${name} ${message.granted ? "granted" : "refused"}, commit ${message.commit}/${message.commitTerm}`;
    case "append": {
      const { prevIndex, prevTerm, rows, commit, wantsReply } = message;
      return `${name} after ${prevIndex}/${prevTerm} ${describeRows(rows)} commit ${commit}${wantsReply ? "" : ", no reply"}`;
    }
    case "append-reply": {
      const { index, hintIndex, hintTerm, commit, busy } = message;
      if (busy !== "no") {
        return `${name} ${busy} after ${index}, commit ${commit}`;
      }
      const answer = message.refused ? `refused ${index}, try ${hintIndex}/${hintTerm}` : `has ${index}`;
      return `${name} ${answer}, commit ${commit}`;
    }
    case "heartbeat":
      return `${name} commit ${message.commit} read ${message.readPosition}`;
    case "heartbeat-reply":
      return `${name} commit ${message.commit} applied ${message.applied} read ${message.readPosition}${message.watched ? "" : ", unwatched"}`;
    case "read-request":
      return `${name} boot ${message.boot} position ${message.position}`;
    case "read-reply":
      return `${name} boot ${message.boot} position ${message.position} index ${message.index}`;
    case "timeout-now":
      return name;
  }
}

/** "write 7: t2 vote 1 commit 5 [6/2:empty]". */
export function describeAppend(append: AppendEffect): string {
  const { writeSeq, term, vote, commit, from, rows, resetTo } = append;
  const reset = resetTo === null ? "" : ` log begins after ${resetTo.index}/${resetTo.term}`;
  const entries = rows.length === 0 ? ` up to ${from - 1}` : ` ${describeRows(rows)}`;
  return `write ${writeSeq}: t${term} vote ${vote} commit ${commit}${reset}${entries}`;
}

/** "5: voters 1 2 3, outgoing 1, learners 4, learners next 1". */
export function describeConfiguration(configuration: Configuration): string {
  const { index, voters, outgoing, learners, learnersNext, autoLeave } = configuration;
  const parts = [
    `voters ${voters.join(" ")}`,
    ...(outgoing.length > 0 ? [`outgoing ${outgoing.join(" ")}`] : []),
    ...(learners.length > 0 ? [`learners ${learners.join(" ")}`] : []),
    ...(learnersNext.length > 0 ? [`learners next ${learnersNext.join(" ")}`] : []),
    ...(autoLeave ? ["leaves by itself"] : []),
  ];
  return `${index}: ${parts.join(", ")}`;
}

/** One line for the member and, if it leads, one for each peer. */
export function describeStatus(member: Member): string[] {
  const { core } = member;
  if (core === null) {
    return [`${member.id} is down`];
  }
  const { term, commitIndex, appliedIndex, stableIndex, firstIndex, lastIndex, lastTerm } = core;
  const log = `log ${firstIndex}..${lastIndex}/${lastTerm} stable ${stableIndex}`;
  const lines = [`${member.id} ${describeRole(core)} t${term} commit ${commitIndex} applied ${appliedIndex} ${log}`];
  for (let id = 1; core.role === "leader" && id <= lastIndex; id++) {
    const progress = core.peer(id);
    if (progress !== undefined) {
      lines.push(`  ${id} ${describeProgress(progress)}`);
    }
  }
  return lines;
}

/** "leader", "candidate", "follower of 1", "follower". */
export function describeRole({ role, leader }: Pick<RaftCore, "role" | "leader">): string {
  return role === "follower" && leader !== 0 ? `follower of ${leader}` : role;
}

function describeProgress(progress: Progress): string {
  const { state, match, next, inFlight, inFlightMax, snapshotIndex, isPaused, diskFull } = progress;
  const parts = [
    `${state} match ${match} next ${next}`,
    ...(state === "replicate" ? [`window ${inFlight} of ${inFlightMax}`] : []),
    ...(snapshotIndex > 0 ? [`snapshot ${snapshotIndex}`] : []),
    ...(isPaused ? ["paused"] : []),
    ...(diskFull ? ["disk full"] : []),
  ];
  return parts.join(" ");
}
