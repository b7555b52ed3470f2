/**
 * Runs scenario files: text in, the same text with the actual results out.
 *
 * A file begins with a comment. Then come steps, separated by empty lines: one or more lines of verbs, `----`, and
 * their results in order: messages sent, writes handed out, entries that may be applied, confirmed reads, changes of
 * role and commit index. The runner takes a member's effects after each input. So a line with a message means that it
 * has left; it stays on the network until `deliver` or `stabilize` takes it. A write stays in flight until `durable`. The
 * rules of `Safety` hold after each step.
 *
 * Verbs (N a member, `*` all that are up; A>B messages from A to B, `*` on either side):
 *
 *     members COUNT [learners COUNT] [limit=VALUE …]   a new cluster: ids from 1 on, all applied, term 1
 *     campaign N | transfer N TARGET | timeout N TICKS…   election now; hand over; next election timeouts
 *     propose N [COUNT] [bytes=B] [for=M] | read N [COUNT] | tick N [COUNT] | drain N
 *     change N add | change N promote=A,B demote=C remove=D [expect=INDEX] [unclaimed=A]
 *     deliver A>B [Type…] [first|last] [drop|duplicate|reverse]   all such messages that are on the way now
 *     durable N | apply N [INDEX] | compact N FIRST
 *     stabilize [N…]   durable, apply and deliver among these until nothing moves; messages to others stay
 *     snapshot A>B start|offer|sent|failed|abandon|place|durable|finish|all [name=NAME]
 *     connect A>B [restarted] [damaged] | unreachable A>B | gone A>B   what A's core learns about B
 *     crash N [written] | restart N [damaged] [log=TERM,…] [term=T] [vote=V] [commit=C] [applied=I]
 *         [reverted=INDEX] [changes=ROLE:ID,…|…]
 *     disk N ok|stall|slow|full|fail | fitness N [vote] [lead]
 *     watched N yes|no   whether a client at N waits for the next commit; yes from its start on
 *     status N | log N | configuration N | trace on|off
 *
 * `quiet` at the end of a line leaves out its results.
 */

import { crc32 } from "node:zlib";
import { InvariantViolation, listenToMarks } from "../../src/primitives/index.ts";
import {
  type ConfigurationChange,
  type CoreLimits,
  DEFAULT_CORE_LIMITS,
  type Effects,
  EntryType,
  encodeEntry,
  type Message,
  NO_ENVELOPE,
  type ProposedChange,
  sealEntry,
} from "../../src/raft/index.ts";
import {
  describeAppend,
  describeConfiguration,
  describeMessage,
  describeRole,
  describeRows,
  describeStatus,
  messageName,
} from "./describe.ts";
import { founded } from "./founding.ts";
import { changeRow, type Disk, emptyDisk, FIT, Member, type Snapshot } from "./member.ts";
import { Safety, SafetyViolation } from "./safety.ts";

const SEPARATOR = "----";
/** A scenario in which messages cause messages for longer than this is wrong. */
const STABILIZE_ROUNDS_MAX = 200;

/** The scenario with the actual results below each separator. */
export function runScenario(text: string): string {
  const cluster = new ScenarioCluster();
  const blocks = text
    .replaceAll("\r", "")
    .trimEnd()
    .split(/\n{2,}/);
  return `${blocks.map((block) => runBlock(cluster, block)).join("\n\n")}\n`;
}

function runBlock(cluster: ScenarioCluster, block: string): string {
  const lines = block.split("\n");
  const verbs = lines.includes(SEPARATOR) ? lines.slice(0, lines.indexOf(SEPARATOR)) : lines;
  const isComment = verbs.every((line) => line.startsWith("#"));
  if (isComment) {
    return verbs.join("\n");
  }
  const output = verbs.filter((line) => !line.startsWith("#")).flatMap((line) => cluster.run(line));
  return [...verbs, SEPARATOR, ...output].join("\n");
}

/** A line asks for something impossible. The runner shows this in its place, and continues with the next line. */
class ScenarioError extends Error {}

/** The words of a line: plain words, and words of the form name=value. */
class Words {
  readonly plain: string[] = [];
  readonly #named = new Map<string, string>();

  constructor(line: string) {
    for (const word of line.trim().split(/\s+/)) {
      const [name, value] = word.split("=") as [string, string | undefined];
      if (value === undefined) {
        this.plain.push(word);
      } else {
        this.#named.set(name, value);
      }
    }
  }

  has(word: string): boolean {
    return this.plain.includes(word);
  }

  get names(): string[] {
    return [...this.#named.keys()];
  }

  at(position: number): string {
    const word = this.plain[position];
    if (word === undefined) {
      throw new ScenarioError(`word ${position} is missing`);
    }
    return word;
  }

  /** The whole number at the position, or `otherwise` if there is none. */
  count(position: number, otherwise?: number): number {
    const word = this.plain[position];
    if (word === undefined && otherwise !== undefined) {
      return otherwise;
    }
    return whole(word ?? "");
  }

  named(name: string): string | undefined {
    return this.#named.get(name);
  }

  /** The whole numbers of name=1,2,3. */
  list(name: string): number[] {
    return (this.#named.get(name) ?? "")
      .split(",")
      .filter((word) => word !== "")
      .map(whole);
  }
}

const fitnessOf = (words: Words) => ({ ...FIT, mayVote: words.has("vote"), mayLead: words.has("lead") });

function whole(word: string): number {
  if (!/^\d+$/.test(word)) {
    throw new ScenarioError(`"${word}" is not a whole number`);
  }
  return Number(word);
}

class ScenarioCluster {
  #members = new Map<number, Member>();
  #safety = new Safety(this.#members);
  /** Sent and not delivered, oldest first. */
  #network: Message[] = [];
  #limits: CoreLimits = DEFAULT_CORE_LIMITS;
  readonly #snapshots = new Map<string, Snapshot>();
  readonly #timeouts = new Map<number, number[]>();
  /** Members whose disk does not answer. */
  readonly #stalled = new Set<number>();
  /** The snapshots that each member wants to send, as last shown. */
  readonly #wanted = new Map<number, string>();
  #lines: string[] = [];
  #isTracing = false;

  /** Runs one line and returns its results. */
  run(line: string): string[] {
    this.#lines = [];
    const isQuiet = line.trimEnd().endsWith(" quiet");
    const words = new Words(isQuiet ? line.slice(0, line.lastIndexOf(" quiet")) : line);
    listenToMarks((name) => {
      if (this.#isTracing) {
        this.#lines.push(`  (${name})`);
      }
    });
    try {
      this.#take(words);
      for (const id of this.#members.keys()) {
        this.#safety.check(id);
      }
      this.#safety.checkLogMatching();
    } catch (error) {
      if (error instanceof InvariantViolation || error instanceof SafetyViolation) {
        return [...this.#lines, `violation: ${error.message}`];
      }
      if (error instanceof ScenarioError) {
        return [...this.#lines, `error: ${error.message}`];
      }
      throw new Error(`"${line}" failed`, { cause: error });
    } finally {
      listenToMarks(null);
    }
    return isQuiet ? [] : this.#lines;
  }

  #take(words: Words): void {
    switch (words.at(0)) {
      case "members":
        this.#found(words);
        return;
      case "campaign":
        this.#each(words.at(1), ({ id, running }) => this.#sayUnless(running.campaign(), id, "may not campaign"));
        return;
      case "transfer":
        this.#input(words.count(1), ({ id, running }) => this.#sayRefusal(id, running.transfer(words.count(2))));
        return;
      case "timeout":
        this.#timeouts.set(words.count(1), words.plain.slice(2).map(whole));
        return;
      case "propose":
        this.#input(words.count(1), (member) => this.#propose(member, words));
        return;
      case "change":
        this.#input(words.count(1), (member) => this.#change(member, words));
        return;
      case "read":
        this.#input(words.count(1), (member) => this.#read(member, words.count(2, 1)));
        return;
      case "tick":
        this.#tick(words.at(1), words.count(2, 1));
        return;
      case "drain":
        this.#each(words.at(1), () => undefined);
        return;
      case "deliver":
        this.#deliver(words);
        return;
      case "durable":
        this.#each(words.at(1), (member) => this.#durable(member));
        return;
      case "apply":
        this.#each(words.at(1), (member) => this.#apply(member, words.count(2, Number.MAX_SAFE_INTEGER)));
        return;
      case "compact":
        this.#input(words.count(1), (member) => member.compact(words.count(2)));
        return;
      case "stabilize":
        this.#stabilize(words.plain.slice(1).map(whole));
        return;
      case "snapshot":
        this.#snapshot(words.at(1), words.at(2), words.named("name") ?? "");
        return;
      case "connect":
        this.#connect(words.at(1), { restarted: words.has("restarted"), damaged: words.has("damaged") });
        return;
      case "unreachable": {
        const [from, to] = pair(words.at(1));
        this.#input(from, ({ running }) => running.peerUnreachable(to));
        return;
      }
      case "gone": {
        const [from, to] = pair(words.at(1));
        this.#input(from, ({ running }) => running.peerGone(to));
        return;
      }
      case "crash":
        this.#crash(words.count(1), words.has("written"));
        return;
      case "restart":
        this.#restart(words);
        return;
      case "disk":
        this.#disk(words.count(1), words.at(2));
        return;
      case "fitness":
        this.#input(words.count(1), (member) => member.setFitness(fitnessOf(words)));
        return;
      case "watched":
        this.#input(words.count(1), (member) => member.running.setHasWaiters(words.at(2) === "yes"));
        return;
      case "status":
        this.#show(words.at(1), describeStatus);
        return;
      case "log":
        this.#show(words.at(1), ({ id, disk }) => [`${id} ${describeStored(disk)}`]);
        return;
      case "configuration":
        this.#show(words.at(1), ({ id, disk }) => [`${id} ${describeConfiguration(disk.configuration)}`]);
        return;
      case "trace":
        this.#isTracing = words.at(1) === "on";
        return;
      default:
        throw new ScenarioError("unknown verb");
    }
  }

  // ---- Members ----

  #found(words: Words): void {
    const voters = words.count(1);
    const learners = words.has("learners") ? words.count(3) : 0;
    const disk = founded(voters, learners);
    this.#limits = readLimits(words);
    this.#members = new Map();
    this.#safety = new Safety(this.#members);
    this.#safety.found(disk.log.rows);
    this.#network = [];
    for (const left of [this.#snapshots, this.#timeouts, this.#stalled, this.#wanted]) {
      left.clear();
    }
    for (let id = 1; id <= voters + learners; id++) {
      this.#add(id, { ...disk, log: disk.log.copy() });
    }
    this.#lines = [describeConfiguration(disk.configuration)];
  }

  #add(id: number, disk: Disk): void {
    const random = (bound: number): number => {
      const wished = this.#timeouts.get(id)?.shift();
      // By default the timeouts of the members are three ticks apart.
      return wished === undefined ? (3 * (id - 1)) % bound : wished - this.#limits.electionTicksMin;
    };
    this.#members.set(id, new Member(id, disk, this.#limits, random));
    this.#start(id);
  }

  #start(id: number): void {
    this.#safety.restarted(id);
    this.#member(id).start();
    this.#showEffects(this.#member(id), "");
  }

  #member(id: number): Member {
    const member = this.#members.get(id);
    if (member === undefined) {
      throw new ScenarioError(`there is no member ${id}`);
    }
    return member;
  }

  #selected(word: string): Member[] {
    return word === "*" ? [...this.#members.values()].filter((member) => member.isUp) : [this.#member(whole(word))];
  }

  #each(word: string, input: (member: Member) => void): void {
    for (const { id } of this.#selected(word)) {
      this.#input(id, input);
    }
  }

  /** Gives one input to a member, then takes its effects. */
  #input(id: number, input: (member: Member) => void): void {
    const member = this.#member(id);
    if (!member.isUp) {
      throw new ScenarioError(`member ${id} is down`);
    }
    const before = member.running.commitIndex;
    input(member);
    const after = member.running.commitIndex;
    this.#showEffects(member, after === before ? "" : `commit ${after}`);
  }

  // ---- What clients and the clock do ----

  #propose(member: Member, words: Words): void {
    const bytes = Number(words.named("bytes") ?? "0");
    const origin = { ...NO_ENVELOPE.origin, memberId: Number(words.named("for") ?? "0") };
    const row = () => encodeEntry(EntryType.Command, { ...NO_ENVELOPE, origin }, new Uint8Array(bytes));
    this.#sayRefusal(member.id, member.running.propose(Array.from({ length: words.count(2, 1) }, row)));
  }

  #change(member: Member, words: Words): void {
    const isAdd = words.has("add");
    const change: ProposedChange = isAdd
      ? { type: "add-slot" }
      : {
          type: "reconfigure",
          promote: words.list("promote"),
          demote: words.list("demote"),
          remove: words.list("remove"),
        };
    const expectIndex = Number(words.named("expect") ?? "0");
    const unclaimed = words.list("unclaimed");
    const answer = member.running.proposeChange(changeRow(change, expectIndex), change, expectIndex, (id) => {
      return !unclaimed.includes(id);
    });
    this.#sayRefusal(member.id, answer);
    if (isAdd && typeof answer !== "string" && !this.#members.has(answer.firstIndex)) {
      // The process that will take the slot runs from the beginning.
      this.#add(answer.firstIndex, emptyDisk());
    }
  }

  #read(member: Member, count: number): void {
    for (let asked = 0; asked < count; asked++) {
      const position = member.running.readIndex();
      this.#safety.asked(member.id, position);
      this.#lines.push(`${member.id} asks for read ${position}`);
    }
  }

  #tick(word: string, count: number): void {
    for (let ticks = 0; ticks < count; ticks++) {
      this.#each(word, ({ running }) => running.tick());
    }
  }

  // ---- The network ----

  #deliver(words: Words): void {
    const [from, to] = words.at(1).split(">") as [string, string];
    const types = words.plain.slice(2).filter((word) => /^[A-Z]/.test(word));
    let chosen = this.#network.filter((message) => {
      return (
        (from === "*" || message.from === Number(from)) &&
        (to === "*" || message.to === Number(to)) &&
        (types.length === 0 || types.includes(messageName(message.type)))
      );
    });
    if (chosen.length === 0 && !words.has("drop")) {
      throw new ScenarioError("no such message is on the way");
    }
    chosen = words.has("first") ? chosen.slice(0, 1) : words.has("last") ? chosen.slice(-1) : chosen;
    const isKept = words.has("duplicate");
    this.#network = this.#network.filter((message) => isKept || !chosen.includes(message));
    if (words.has("drop")) {
      return;
    }
    for (const message of words.has("reverse") ? chosen.toReversed() : chosen) {
      this.#step(message);
    }
  }

  #step(message: Message): void {
    const member = this.#member(message.to);
    this.#lines.push(`${member.id} gets ${messageName(message.type)} of ${message.from}`);
    if (member.isUp) {
      this.#input(member.id, ({ running }) => running.step(message));
    }
  }

  /** Delivers, writes and applies among these members, or among all, until nothing moves. */
  #stabilize(ids: readonly number[]): void {
    const takesPart = (id: number): boolean => this.#member(id).isUp && (ids.length === 0 || ids.includes(id));
    for (let round = 0; round < STABILIZE_ROUNDS_MAX; round++) {
      const chosen = this.#network.filter(({ from, to }) => takesPart(to) && (ids.length === 0 || ids.includes(from)));
      const busy = [...this.#members.values()].filter((member) => {
        const isWriting = member.inFlight !== null && !this.#stalled.has(member.id);
        return takesPart(member.id) && (isWriting || member.disk.applied < member.applyTo);
      });
      if (chosen.length === 0 && busy.length === 0) {
        return;
      }
      this.#network = this.#network.filter((message) => !chosen.includes(message));
      for (const message of chosen) {
        this.#step(message);
      }
      for (const { id } of busy) {
        this.#input(id, (member) => this.#durable(member));
        this.#input(id, (member) => this.#apply(member, Number.MAX_SAFE_INTEGER));
      }
    }
    throw new ScenarioError("nothing settles");
  }

  #connect(word: string, peer: { readonly restarted: boolean; readonly damaged: boolean }): void {
    const [from, to] = pair(word);
    this.#input(from, ({ running }) => running.peerConnected(to, peer));
  }

  // ---- The disk ----

  #durable(member: Member): void {
    if (!this.#stalled.has(member.id)) {
      member.durable();
    }
  }

  #apply(member: Member, to: number): void {
    const before = member.voids.length;
    member.apply(to);
    for (const reason of member.voids.slice(before)) {
      this.#lines.push(`${member.id} finds the change void: ${reason}`);
    }
  }

  #disk(id: number, what: string): void {
    switch (what) {
      case "ok":
        this.#stalled.delete(id);
        this.#input(id, (member) => member.setFitness(FIT));
        return;
      case "stall":
        this.#stalled.add(id);
        return;
      case "slow":
        this.#stalled.add(id);
        this.#input(id, (member) => member.setFitness({ ...FIT, mayLead: false }));
        return;
      case "full":
        this.#input(id, (member) => member.setFitness({ ...FIT, mayLead: false, diskFull: true }));
        return;
      case "fail":
        // The first failed write ends the process.
        this.#crash(id, false);
        return;
      default:
        throw new ScenarioError("unknown state of the disk");
    }
  }

  #crash(id: number, isWritten: boolean): void {
    this.#member(id).crash(isWritten);
    this.#network = this.#network.filter((message) => message.to !== id);
    this.#lines.push(`${id} is down`);
  }

  #restart(words: Words): void {
    const member = this.#member(words.count(1));
    const { disk } = member;
    if (member.isUp) {
      this.#crash(member.id, false);
    }
    const terms = words.list("log");
    for (const term of terms) {
      disk.log.add(EntryType.Command, term);
      disk.term = Math.max(disk.term, term);
    }
    if (disk.term > 1 && terms.length > 0) {
      disk.vote = 0;
    }
    for (const change of readChanges(words.named("changes") ?? "")) {
      const row = changeRow(change, 0);
      sealEntry(row, 1, disk.log.last + 1, crc32);
      disk.log.replace(disk.log.last + 1, [row]);
    }
    const reverted = words.named("reverted");
    if (reverted !== undefined) {
      disk.log.replace(whole(reverted) + 1, []);
      disk.commit = Math.min(disk.commit, whole(reverted));
    }
    const applied = words.named("applied");
    if (applied !== undefined) {
      disk.applied = whole(applied);
      disk.appliedTerm = disk.log.term(disk.applied);
    }
    disk.damaged = words.has("damaged");
    if (disk.damaged) {
      // The log was set aside. The applied entries were committed, so a new log begins after them.
      disk.log.reset(disk.applied, disk.appliedTerm);
    }
    disk.term = Number(words.named("term") ?? disk.term);
    disk.vote = Number(words.named("vote") ?? disk.vote);
    disk.commit = Number(words.named("commit") ?? disk.commit);
    this.#start(member.id);
  }

  // ---- Snapshots ----

  #snapshot(word: string, step: string, name: string): void {
    const [from, to] = pair(word);
    const snapshot = (): Snapshot => {
      const known = this.#snapshots.get(`${word} ${name}`);
      if (known === undefined) {
        throw new ScenarioError(`no snapshot of ${word} was started`);
      }
      return known;
    };
    switch (step) {
      case "all":
        for (const each of ["start", "offer", "sent", "place", "durable", "finish"]) {
          this.#snapshot(word, each, name);
        }
        return;
      case "start": {
        const started = this.#member(from).snapshot();
        this.#snapshots.set(`${word} ${name}`, started);
        this.#lines.push(`${from} streams ${started.index}/${started.term} to ${to}`);
        this.#input(from, ({ running }) => running.onSnapshotStarted(to, started.index));
        return;
      }
      case "sent":
      case "failed":
        this.#input(from, ({ running }) => running.onSnapshotEnded(to, step === "sent"));
        return;
      case "offer": {
        const { index, term: entryTerm, leaderTerm: term } = snapshot();
        this.#input(to, ({ running }) => {
          this.#lines.push(
            `${to} finds ${index}/${entryTerm}: ${running.offerSnapshot({ from, term, index, entryTerm })}`,
          );
        });
        return;
      }
      case "abandon":
        this.#input(to, ({ running }) => running.abandonInstall());
        return;
      case "place":
        this.#input(to, (member) => this.#sayUnless(member.place(snapshot()), to, "does not want it any more"));
        return;
      case "durable":
        this.#input(to, (member) => this.#durable(member));
        return;
      case "finish":
        this.#input(to, (member) => member.finishInstall());
        return;
      default:
        throw new ScenarioError("unknown step of a snapshot");
    }
  }

  // ---- What is shown ----

  #show(word: string, describe: (member: Member) => readonly string[]): void {
    const shown = word === "*" ? [...this.#members.values()] : [this.#member(whole(word))];
    this.#lines.push(...shown.flatMap(describe));
  }

  #sayUnless(isSo: boolean, id: number, otherwise: string): void {
    if (!isSo) {
      this.#lines.push(`${id} ${otherwise}`);
    }
  }

  #sayRefusal(id: number, answer: unknown): void {
    if (typeof answer === "string") {
      this.#lines.push(`${id} refuses: ${answer}`);
    }
  }

  /** Takes and shows the effects of the member; `news` lists the other changes that the input caused. */
  #showEffects(member: Member, news: string): void {
    const { id } = member;
    const effects = member.drain();
    if (effects.append !== null) {
      this.#safety.wrote(effects.append);
    }
    this.#network.push(...effects.messages);
    if (effects.role !== null) {
      this.#lines.push(`${id} ${describeRole(effects.role)} t${effects.role.term}`);
    }
    if (news !== "") {
      this.#lines.push(`${id} ${news}`);
    }
    this.#lines.push(...effects.messages.map(describeMessage), ...this.#describeLocal(id, effects));
  }

  #describeLocal(id: number, effects: Effects): string[] {
    const lines: string[] = [];
    if (effects.append !== null) {
      lines.push(`${id} ${describeAppend(effects.append)}`);
    }
    if (effects.apply !== null) {
      lines.push(`${id} may apply ${effects.apply.from}..${effects.apply.to}`);
    }
    if (effects.reads !== null) {
      this.#safety.answered(id, effects.reads.position, effects.reads.index);
      lines.push(`${id} reads up to ${effects.reads.position} at ${effects.reads.index}`);
    }
    if (effects.readsFailedUpTo > 0) {
      lines.push(`${id} loses reads up to ${effects.readsFailedUpTo}`);
    }
    const wanted = effects.snapshotsWanted.join(" ");
    if (wanted !== (this.#wanted.get(id) ?? "")) {
      this.#wanted.set(id, wanted);
      lines.push(wanted === "" ? `${id} wants no snapshot sent` : `${id} wants a snapshot sent to ${wanted}`);
    }
    for (const [happened, text] of [
      [effects.lossProven, "has lost what it acknowledged"],
      [effects.installCancelled, "stops receiving the snapshot"],
      [effects.snapshotInstalled, "has a log that follows the snapshot"],
    ] as const) {
      if (happened) {
        lines.push(`${id} ${text}`);
      }
    }
    return lines;
  }
}

function describeStored({ log }: Disk): string {
  return `stores after ${log.first - 1}/${log.prevTerm} ${describeRows(log.rows)}`;
}

/** The members of "1>3". */
function pair(word: string): [number, number] {
  const [from, to] = word.split(">") as [string, string];
  return [whole(from), whole(to)];
}

/** Entries as "remove:1,2|promote:4", each a separate change. */
function readChanges(text: string): ConfigurationChange[] {
  return text
    .split("|")
    .filter((part) => part !== "")
    .map((part) => {
      const [role, ids] = part.split(":") as [string, string];
      const change = { promote: [] as number[], demote: [] as number[], remove: [] as number[] };
      return { type: "reconfigure", ...change, [role]: ids.split(",").map(whole) };
    });
}

/** The limits named in a line; all others have their defaults. */
function readLimits(words: Words): CoreLimits {
  const changes = new Map(words.names.map((name) => [name, whole(words.named(name) ?? "")]));
  const unknown = [...changes.keys()].filter((name) => !(name in DEFAULT_CORE_LIMITS));
  if (unknown.length > 0) {
    throw new ScenarioError(`unknown limits: ${unknown.join(" ")}`);
  }
  return { ...DEFAULT_CORE_LIMITS, ...Object.fromEntries(changes) };
}
