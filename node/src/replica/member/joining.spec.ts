import { expect } from "chai";
import { FakeTime, until } from "../../../test/harness/index.ts";
import { ConnectionError, type JoinAnswer } from "../../peers/index.ts";
import { Joining } from "./joining.ts";

const ACCEPTED: JoinAnswer = {
  result: "ACCEPTED",
  clusterId: crypto.randomUUID(),
  memberId: 12,
  directory: [],
  index: 15,
};

describe("Joining", () => {
  let time: FakeTime;
  let asked: string[];
  let answers: Map<string, JoinAnswer>;
  let waiting: { readonly state: string; readonly reason: string }[];
  let accepted: number[];
  let objection: string | null;
  let joining: Joining;

  beforeEach(() => {
    time = new FakeTime();
    asked = [];
    answers = new Map();
    waiting = [];
    accepted = [];
    objection = null;
    joining = new Joining({
      name: "q-2",
      clusterName: "demo",
      seeds: ["a:1", "b:1"],
      requestJoin: async (seed) => {
        asked.push(seed);
        const answer = answers.get(seed);
        if (answer === undefined) {
          throw new ConnectionError(`${seed} gave no answer`);
        }
        return answer;
      },
      scheduler: time,
      random: () => 0.5,
      log: { info: () => undefined, warn: () => undefined },
      objectionTo: () => objection,
      onWaiting: (state, reason) => waiting.push({ state, reason }),
      onAccepted: ({ memberId }) => accepted.push(memberId),
    });
  });

  afterEach(() => joining.stop());

  async function nextRound(): Promise<void> {
    await until("the end of a round", () => time.timerCount === 1);
    time.advance(5_000);
    await until("the end of the next round", () => time.timerCount === 1 || accepted.length > 0);
  }

  const states = (): string[] => waiting.map(({ state }) => state);

  it("waits to be added while there is no slot of its name, and is given the one that comes later", async () => {
    answers.set("a:1", { result: "NO_SLOT" });
    joining.start();
    await nextRound();
    expect(states()).to.deep.equal(["EMPTY", "EMPTY"]);
    expect(waiting[0]?.reason).to.include("waiting to be added").and.include('"q-2"').and.include('"demo"');
    answers.set("a:1", ACCEPTED);
    await nextRound();
    expect(accepted).to.deep.equal([12]);
    time.advance(60_000);
    expect([accepted, time.timerCount]).to.deep.equal([[12], 0]);
  });

  it("P46: has lost its data by the word of any member, and asks on, so that a new slot ends it", async () => {
    answers.set("a:1", { result: "SLOT_TAKEN", memberId: 512 });
    joining.start();
    await until("the answer", () => waiting.length === 1);
    expect(states()).to.deep.equal(["MEMBER_DATA_LOST"]);
    expect(waiting[0]?.reason).to.include('"q-2"').and.include("remove member 512").and.include('add "q-2" again');
    answers.set("a:1", { result: "NO_SLOT" }).set("b:1", { result: "NO_SLOT" });
    await nextRound();
    expect(states()).to.deep.equal(["MEMBER_DATA_LOST", "EMPTY"]);
    answers.set("a:1", ACCEPTED);
    await nextRound();
    expect(accepted).to.deep.equal([12]);
  });

  it("is of a wrong cluster or version only as long as no seed knows better", async () => {
    answers.set("a:1", { result: "WRONG_CLUSTER" });
    joining.start();
    await nextRound();
    expect(states()).to.deep.equal(["WRONG_CLUSTER", "WRONG_CLUSTER"]);
    expect(waiting[0]?.reason).to.include("a:1");
    answers.set("b:1", { result: "VERSION" });
    await nextRound();
    expect(states()).to.include("EMPTY");
    answers.set("b:1", { result: "NO_SLOT" });
    await nextRound();
    waiting.length = 0;
    await nextRound();
    await nextRound();
    expect(states()).to.deep.equal(["EMPTY", "EMPTY"]);
    expect(waiting[0]?.reason).to.include("waiting to be added");
  });

  it("enters no cluster that the record forbids, and keeps asking", async () => {
    answers.set("a:1", ACCEPTED);
    objection = "the record names another cluster";
    joining.start();
    await nextRound();
    expect(accepted).to.deep.equal([]);
    expect(waiting.at(-1)).to.deep.equal({ state: "WRONG_CLUSTER", reason: objection });
    expect(await joining.objection())
      .to.include("a:1")
      .and.include("ACCEPTED");
    objection = null;
    joining.start();
    await until("the slot", () => accepted.length === 1);
  });

  it("stays as it is while no seed knows anything", async () => {
    answers.set("a:1", { result: "TRY_LATER" }).set("b:1", { result: "NO_CLUSTER" });
    joining.start();
    await nextRound();
    expect([asked, waiting]).to.deep.equal([["a:1", "b:1", "b:1", "a:1"], []]);
  });

  describe("before a founding (P47)", () => {
    it("objects if a seed that answers belongs to a cluster, whatever it says", async () => {
      const words: readonly JoinAnswer[] = [
        { result: "NO_SLOT" },
        { result: "SLOT_TAKEN", memberId: 7 },
        { result: "WRONG_CLUSTER" },
        { result: "VERSION" },
        { result: "TRY_LATER" },
      ];
      for (const word of words) {
        answers.set("a:1", { result: "NO_CLUSTER" }).set("b:1", word);
        expect(await joining.objection(), word.result)
          .to.include("b:1")
          .and.include(word.result);
      }
    });

    it("does not object if the seeds are silent or have no cluster either; it asks no seed after that", async () => {
      joining.start();
      answers.set("a:1", { result: "NO_CLUSTER" });
      expect(await joining.objection()).to.equal(null);
      asked.length = 0;
      time.advance(60_000);
      expect(asked).to.deep.equal([]);
      joining.start();
      await until("it asks again", () => asked.length === 2);
    });

    it("objects when a slot is given, by the question that was under way or by its own", async () => {
      for (const isUnderWay of [true, false]) {
        answers.set("a:1", ACCEPTED);
        if (isUnderWay) {
          joining.start();
        }
        expect(await joining.objection()).to.include("slot");
        expect(accepted).to.deep.equal([12]);
      }
      joining.start();
      expect(time.timerCount).to.equal(0);
    });
  });
});
