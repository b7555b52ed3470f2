/**
 * Explores every state of a small cluster, and every path from it. A model of pods, volumes and members follows each
 * step of the planner. Each step must keep a majority. Each path must end in the specified state, or in a hold that
 * says why not. In each state the specification may also change: to each number of members, and to the other template.
 */
import { expect } from "chai";
import { idOf, NOW, Scene } from "../../test/index.ts";
import { type ClaimView, type MemberReport, type Plan, type PodView, plan, type Slot, type Step } from "./index.ts";

const MEMBERS_MAX = 5;
const SIZES = [1, 3, 5] as const;
const LONG_AGO = NOW - 3_600_000;
const RETIRED_ID = 5;
/** No path is longer than growing, shrinking, replacing and rolling of five members, one after the other. */
const STEPS_MAX = 80;

type Part = "none" | "unclaimed" | "learner" | "voter";
type Data = "none" | "empty" | "member" | "retired";
/** Down: unreachable. Stuck: its template does not start. Damaged: it has no vote until it has recovered. */
type Pod = "none" | "ready" | "down" | "stuck" | "damaged";

/** There is one object for each combination of fields. */
interface Member {
  readonly part: Part;
  readonly data: Data;
  readonly pod: Pod;
  readonly isOld: boolean;
  /** Below CODES; it stands for the fields. */
  readonly code: number;
}

interface World {
  readonly wanted: (typeof SIZES)[number];
  readonly replicas: number;
  /** Whether the wanted template is the old one, to which a person has reverted. */
  readonly wantsOld: boolean;
  /** Whether the new template cannot start. */
  readonly isNewBad: boolean;
  readonly leader: number;
  readonly members: readonly Member[];
  /** Different worlds have different keys: a number with a digit for each field. */
  readonly key: number;
}

const PARTS: readonly Part[] = ["none", "unclaimed", "learner", "voter"];
const DATA: readonly Data[] = ["none", "empty", "member", "retired"];
const PODS: readonly Pod[] = ["none", "ready", "down", "stuck", "damaged"];
const CODES = PARTS.length * DATA.length * PODS.length * 2;

/** All members that were needed, by code. */
const membersByCode: Member[] = [];

function memberOf({ part, data, pod, isOld }: Omit<Member, "code">): Member {
  const place = (PARTS.indexOf(part) * DATA.length + DATA.indexOf(data)) * PODS.length + PODS.indexOf(pod);
  const code = 2 * place + (isOld ? 1 : 0);
  membersByCode[code] ??= { part, data, pod, isOld, code };
  return membersByCode[code];
}

function worldOf({ wanted, replicas, wantsOld, isNewBad, leader, members }: Omit<World, "key">): World {
  let key = ((wanted * 8 + replicas) * 8 + leader + 1) * 4 + (wantsOld ? 2 : 0) + (isNewBad ? 1 : 0);
  for (const { code } of members) {
    key = key * CODES + code;
  }
  return { wanted, replicas, wantsOld, isNewBad, leader, members, key };
}

/** A cheap assertion, because it runs a million times. */
function demand(condition: boolean, message: string): void {
  if (!condition) {
    expect.fail(message);
  }
}

function voters(world: World): number[] {
  return world.members.flatMap(({ part }, ordinal) => (part === "voter" ? [ordinal] : []));
}

function withoutVote({ members, wanted }: World): number {
  return members.slice(0, wanted).filter(({ part }) => part !== "voter").length;
}

function isAlive(member: Member | undefined): boolean {
  return member?.part === "voter" && member.data === "member" && member.pod === "ready";
}

function aliveVoters(world: World): number[] {
  return voters(world).filter((ordinal) => isAlive(world.members[ordinal]));
}

function hasQuorum({ members }: World): boolean {
  let [alive, all] = [0, 0];
  for (const member of members) {
    all += member.part === "voter" ? 1 : 0;
    alive += isAlive(member) ? 1 : 0;
  }
  return alive > all / 2;
}

/** What Kubernetes and the members do by themselves, until nothing is left to do. */
function settle(world: World): World {
  const canClaim = hasQuorum(world);
  let isSettled = true;
  const members = world.members.map((member, ordinal): Member => {
    const present = ordinal < world.replicas ? start(world, member) : stop(member);
    const claims = canClaim && present.part === "unclaimed" && present.pod === "ready" && present.data === "empty";
    const next = claims ? memberOf({ ...present, part: "learner", data: "member" }) : present;
    isSettled &&= next === member;
    return next;
  });
  const settled = { ...world, members };
  const living = isAlive(members[world.leader]) ? world.leader : (aliveVoters(settled)[0] ?? -1);
  const leader = hasQuorum(settled) ? living : -1;
  return isSettled && leader === world.leader ? world : settle(worldOf({ ...settled, leader }));
}

function start(world: World, member: Member): Member {
  if (member.pod !== "none") {
    return member;
  }
  const isStuck = world.isNewBad && !world.wantsOld;
  const data = member.data === "none" ? "empty" : member.data;
  return memberOf({ ...member, data, pod: isStuck ? "stuck" : "ready", isOld: world.wantsOld });
}

function stop(member: Member): Member {
  return member.pod === "none" && !member.isOld ? member : memberOf({ ...member, pod: "none", isOld: false });
}

function observe(world: World): Scene {
  const scene = new Scene(world.wanted, 0);
  scene.set = scene.set && { ...scene.set, replicas: world.replicas, updateRevision: world.wantsOld ? "old" : "new" };
  const members: Slot[] = [];
  for (const [ordinal, member] of world.members.entries()) {
    const { slot, pod, claim, report } = viewOf(ordinal, member, ordinal === world.leader);
    if (slot !== undefined) {
      members.push(slot);
    }
    if (pod !== undefined) {
      scene.pods.set(ordinal, pod);
    }
    if (claim !== undefined) {
      scene.claims.set(ordinal, claim);
    }
    if (report !== undefined) {
      scene.reports.set(ordinal, report);
    }
  }
  scene.configured({ leaderId: idOf(world.leader), members });
  return hasQuorum(world) ? scene : scene.leaderless(3_600_000);
}

/** The part of an observation that is about one member. */
interface View {
  readonly slot: Slot | undefined;
  readonly pod: PodView | undefined;
  readonly claim: ClaimView | undefined;
  readonly report: MemberReport | undefined;
}

/** Each view is in thousands of worlds. */
const views: View[] = [];

function viewOf(ordinal: number, member: Member, isLeader: boolean): View {
  const key = (member.code * MEMBERS_MAX + ordinal) * 2 + (isLeader ? 1 : 0);
  let view = views[key];
  if (view === undefined) {
    const scene = new Scene(1, 0).configured({ leaderId: idOf(isLeader ? ordinal : -1) });
    observeMember(scene, ordinal, member);
    const [slot] = scene.known.members;
    const [pod, claim, report] = [scene.pods.get(ordinal), scene.claims.get(ordinal), scene.reports.get(ordinal)];
    view = { slot, pod, claim, report };
    views[key] = view;
  }
  return view;
}

function observeMember(scene: Scene, ordinal: number, { part, data, pod, isOld }: Member): void {
  const isReady = pod === "ready" && part === "voter" && data === "member";
  if (part !== "none") {
    scene.slot(ordinal, {
      voter: part === "voter",
      promotable: part === "learner" && data === "member" && pod === "ready",
      contactAgeMs: isReady || (part === "learner" && pod === "ready" && data === "member") ? 0 : 60_000,
    });
  }
  if (part === "unclaimed") {
    scene.unclaimed(ordinal);
  }
  if (data !== "none") {
    scene.claim(ordinal, { memberId: data === "member" ? idOf(ordinal) : data === "retired" ? RETIRED_ID : "none" });
  }
  if (pod === "none") {
    return;
  }
  const isStuck = pod === "stuck";
  scene.pod(ordinal, {
    revision: isOld ? "old" : "new",
    readySince: isReady ? LONG_AGO : null,
    unreadySince: isReady ? null : LONG_AGO,
    runningSince: isStuck ? null : LONG_AGO,
    notRunningSince: isStuck ? LONG_AGO : null,
    started: !isStuck,
    everStarted: !isStuck,
  });
  if (isStuck || pod === "down") {
    return;
  }
  const isTaken = part === "learner" || part === "voter";
  if (data === "empty") {
    scene.emptyMember(ordinal, isTaken ? "MEMBER_DATA_LOST" : "EMPTY");
  } else if (data === "retired") {
    scene.report(ordinal, { memberId: RETIRED_ID, state: isTaken ? "MEMBER_DATA_LOST" : "MEMBER_REMOVED" });
  } else {
    scene.report(ordinal, { state: pod === "damaged" ? "MEMBER_DAMAGED" : "RUNNING" });
  }
}

/** The direct effect of a step, before any reaction. */
function apply(world: World, { action }: Step): World {
  const change = (ordinals: readonly number[], to: (member: Member) => Omit<Member, "code">): World =>
    worldOf({
      ...world,
      members: world.members.map((member, ordinal) => (ordinals.includes(ordinal) ? memberOf(to(member)) : member)),
    });
  switch (action.kind) {
    case "scale-set":
      return worldOf({ ...world, replicas: action.replicas });
    case "add-slot":
      return change([Number(action.name.split("-")[1])], (member) => ({ ...member, part: "unclaimed" }));
    case "promote":
      return change(ordinalsOf(action.ids), (member) => ({ ...member, part: "voter" }));
    case "remove":
      return change(ordinalsOf(action.ids), (member) => ({
        ...member,
        part: "none",
        data: member.data === "member" ? "retired" : member.data,
      }));
    case "transfer":
      return worldOf({ ...world, leader: action.targetId - idOf(0) });
    case "evict":
    case "delete-pod":
      // The volume of a pod is deleted with it, if the step before has given the volume up.
      return change([action.ordinal], (member) => ({ ...member, pod: "none" }));
    case "delete-claim":
      // The volume is deleted only when its pod ends: the next step, which the model takes together with this one.
      return change([action.ordinal], (member) => ({ ...member, data: "none", pod: "none" }));
    case "create-set":
    case "delete-set":
    case "create-identity":
    case "bootstrap":
      throw new Error(`${action.kind} for a cluster that exists`);
    case "begin-recovery":
    case "note-recovery":
    case "commit-recovery":
    case "end-recovery":
    case "create-recovery-pod":
    case "delete-recovery-pod":
    case "hand-over-claim":
      throw new Error(`${action.kind} without a request for a recovery`);
  }
}

function ordinalsOf(ids: readonly number[]): number[] {
  return ids.map((id) => id - idOf(0));
}

/** What no step may do, in any state. */
function check(before: World, after: World, { action }: Step): void {
  switch (action.kind) {
    case "remove":
      demand(hasQuorum(before) && hasQuorum(after), "a majority is needed before and after a removal");
      demand(!action.ids.includes(idOf(before.leader)), "the leader is never removed");
      for (const ordinal of ordinalsOf(action.ids)) {
        const member = before.members[ordinal];
        const saysLost = member?.pod === "ready" && member.data !== "member";
        demand(ordinal >= before.wanted || saysLost, "who is wanted goes only when it says that its data is lost");
      }
      break;
    case "promote":
      demand(hasQuorum(before) && hasQuorum(after), "a majority is needed before and after a promotion");
      demand(
        voters(before).length % 2 === 0 ||
          action.ids.length === 2 ||
          before.members.some(({ part }, at) => part === "voter" && at >= before.wanted) ||
          withoutVote(before) === 1,
        "voters come by pairs",
      );
      break;
    case "evict": {
      const isAlone = before.wanted === 1 && voters(before).length === 1;
      const others = before.members.filter((member, at) => at !== action.ordinal && member.part === "voter");
      demand(hasQuorum(before), "no pod is evicted without a leader");
      demand(isAlone || hasQuorum(after), "a majority is needed while a pod is away");
      demand(isAlone || others.every(isAlive), "no other member may be away");
      break;
    }
    case "delete-pod":
      demand(!isAlive(before.members[action.ordinal]), "a pod that works is evicted, not deleted");
      break;
    case "delete-claim": {
      const part = before.members[action.ordinal]?.part;
      demand(part === "none" || part === "unclaimed", "the volume of a member is never deleted");
      break;
    }
    case "transfer":
      demand(aliveVoters(before).includes(after.leader), "only a voter that works takes over");
      break;
    case "scale-set": {
      const cut = before.members.slice(action.replicas, before.replicas);
      demand(
        cut.every(({ part }) => part === "none"),
        "the pod of a member is never cut off",
      );
      break;
    }
    case "add-slot": {
      const learners = after.members.filter(({ part }) => part === "learner" || part === "unclaimed");
      demand(learners.length <= 2, "two learners at most");
    }
  }
}

/** Whether everything matches the specification. */
function isAtSpec(world: World): boolean {
  return (
    world.replicas === world.wanted &&
    world.members.every((member, ordinal) =>
      ordinal < world.wanted
        ? isAlive(member) && member.isOld === world.wantsOld
        : member.part === "none" && member.pod === "none" && member.data === "none",
    )
  );
}

function isAway({ pod }: Member): boolean {
  return pod === "down" || pod === "damaged" || pod === "stuck";
}

/** Members that were down return, and the template can start at last. */
function heal(world: World): World {
  const members = world.members.map((member) => (isAway(member) ? memberOf({ ...member, pod: "ready" }) : member));
  return settle(worldOf({ ...world, isNewBad: false, members }));
}

function hasLostMajority(world: World): boolean {
  const withData = voters(world).filter((ordinal) => world.members[ordinal]?.data === "member");
  return withData.length <= voters(world).length / 2;
}

function checkEnd(world: World, { blocker }: Plan): void {
  if (isAtSpec(world)) {
    demand(blocker === null, "nothing is left to wait for");
    return;
  }
  // A member that is down causes no hold, because the operator can do nothing about it.
  demand(blocker !== null || world.members.some(isAway), "an end without an explanation");
  if (heal(world).key === world.key) {
    demand(
      hasLostMajority(world) && blocker?.reason === "QuorumLost",
      `${blocker?.gate} ${blocker?.reason}, with nothing wrong`,
    );
  }
}

/** Explored states, and all states that a change of the specification can reach from them. */
class Exploration {
  readonly seen = new Set<number>();
  readonly #open: World[] = [];
  steps = 0;

  run(beginnings: Iterable<World>): void {
    this.#open.push(...beginnings);
    for (let world = this.#open.pop(); world !== undefined; world = this.#open.pop()) {
      this.#walk(world);
    }
  }

  #walk(beginning: World): void {
    const way: number[] = [];
    let world = beginning;
    while (!this.seen.has(world.key)) {
      this.seen.add(world.key);
      const planned = plan(observe(world).observe());
      try {
        world = this.#follow(world, planned, way);
      } catch (error) {
        throw new Error(`${JSON.stringify(world)}\nafter ${way.join(" → ") || "nothing"}`, { cause: error });
      }
      if (planned.step === null) {
        return;
      }
      demand(way.length < STEPS_MAX, way.join(" → "));
    }
    // A known state has an end, unless this path itself contains it.
    demand(!way.includes(world.key), `a circle: ${way.join(" → ")}`);
  }

  #follow(world: World, planned: Plan, way: number[]): World {
    this.#turn(world);
    way.push(world.key);
    if (planned.step === null) {
      checkEnd(world, planned);
      return world;
    }
    const after = apply(world, planned.step);
    check(world, after, planned.step);
    this.steps += 1;
    return settle(after);
  }

  /** All events that can happen in addition to the planner's step. */
  #turn(world: World): void {
    for (const wanted of SIZES) {
      this.#add(worldOf({ ...world, wanted }));
    }
    this.#add(worldOf({ ...world, wantsOld: !world.wantsOld }));
    this.#add(heal(world));
  }

  #add(world: World): void {
    const settled = settle(world);
    if (!this.seen.has(settled.key)) {
      this.#open.push(settled);
    }
  }
}

/** Each member in each of these conditions, in clusters of each size, with each possible leader. */
function* beginnings(conditions: readonly Member[], isNewBad: boolean): Generator<World> {
  for (const size of SIZES) {
    for (const members of tuples(conditions, size)) {
      const world = worldOf({
        wanted: size,
        replicas: size,
        wantsOld: false,
        isNewBad,
        leader: -1,
        members: [...members, ...Array(MEMBERS_MAX - size).fill(ABSENT)],
      });
      if (voters(world).length === 0) {
        continue; // No cluster ever was like this.
      }
      for (const leader of new Set([aliveVoters(world)[0] ?? -1, aliveVoters(world).at(-1) ?? -1])) {
        yield settle(worldOf({ ...world, leader }));
      }
    }
  }
}

function* tuples<Value>(values: readonly Value[], length: number): Generator<Value[]> {
  if (length === 0) {
    yield [];
    return;
  }
  for (const rest of tuples(values, length - 1)) {
    for (const value of values) {
      yield [...rest, value];
    }
  }
}

const ABSENT = memberOf({ part: "none", data: "none", pod: "none", isOld: false });
const READY = memberOf({ part: "voter", data: "member", pod: "ready", isOld: false });
const OLD = memberOf({ ...READY, isOld: true });
const DOWN = memberOf({ ...READY, pod: "down" });
const DAMAGED = memberOf({ ...READY, pod: "damaged" });
const LOST = memberOf({ ...READY, data: "empty" });
const LEARNER = memberOf({ ...READY, part: "learner" });
const STUCK = memberOf({ ...READY, pod: "stuck" });
const RETURNED = memberOf({ ...READY, part: "none", data: "retired" });

describe("planner, explored", () => {
  const exploration = new Exploration();
  const explorations = [
    { what: "ready, old, down or lost", conditions: [READY, OLD, DOWN, LOST], isNewBad: false },
    {
      what: "ready, learning, damaged or returned after a removal",
      conditions: [READY, LEARNER, DAMAGED, RETURNED],
      isNewBad: false,
    },
    { what: "old, or stuck with a template that does not start", conditions: [OLD, STUCK, LOST], isNewBad: true },
  ];
  for (const { what, conditions, isNewBad } of explorations) {
    it(`keeps a majority, and terminates, from members that are ${what}`, () => {
      const { steps } = exploration;
      exploration.run(beginnings(conditions, isNewBad));
      expect(exploration.steps - steps).to.be.greaterThan(1_000);
    }).timeout(120_000);
  }
});
