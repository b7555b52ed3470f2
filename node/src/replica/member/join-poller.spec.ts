import { expect } from "chai";
import { FakeTime, until } from "../../../test/harness/index.ts";
import { ConnectionError, type JoinAnswer } from "../../peers/index.ts";
import { JoinPoller, type PollDecision } from "./join-poller.ts";

const NO_SLOT: JoinAnswer = { result: "NO_SLOT" };
const TRY_LATER: JoinAnswer = { result: "TRY_LATER" };

describe("JoinPoller", () => {
  let time: FakeTime;
  let asked: string[];
  let lines: string[];
  let answers: Map<string, JoinAnswer>;
  let worth: (answer: JoinAnswer) => PollDecision;
  let asking: JoinPoller;

  beforeEach(() => {
    time = new FakeTime();
    asked = [];
    lines = [];
    answers = new Map();
    worth = ({ result }) => (result === "NO_SLOT" ? "ask-later" : "ask-next");
    const note = (fields: object, message: string): void => {
      lines.push(`${message} ${Object.values(fields).join(" ")}`);
    };
    asking = new JoinPoller({
      addresses: () => ["a:1", "b:1", "c:1"],
      requestJoin: async (address) => {
        asked.push(address);
        const answer = answers.get(address);
        if (answer === undefined) {
          throw new ConnectionError(`${address} gave no answer`);
        }
        return answer;
      },
      onAnswer: (_address, answer) => worth(answer),
      scheduler: time,
      random: () => 0.5,
      log: { info: note, warn: note },
    });
  });

  /** Waits for the end of a round, when the timer for the next one is set. */
  function pause(): Promise<unknown> {
    return until("the pause between two rounds", () => time.timerCount === 1);
  }

  async function rounds(count: number, waitMs: (round: number) => number): Promise<void> {
    for (let round = 1; round <= count; round++) {
      await pause();
      time.advance(waitMs(round) - 1);
      expect(time.timerCount, `round ${round} is over`).to.equal(1);
      time.advance(1);
    }
    await pause();
  }

  it("goes through the addresses until an answer settles the round, each time from the next one on", async () => {
    answers.set("b:1", NO_SLOT).set("c:1", TRY_LATER);
    asking.start();
    await rounds(2, (round) => 500 * round);
    expect(asked.join(" ")).to.equal("a:1 b:1 b:1 c:1 a:1 b:1");
  });

  it("asks less and less often, and at least every 5 s", async () => {
    asking.start();
    await rounds(6, (round) => Math.min(500 * 2 ** (round - 1), 5_000));
    expect(asked).to.have.length(7 * 3);
  });

  it("logs what an address says when it is news", async () => {
    asking.start();
    await rounds(2, (round) => 500 * round);
    const silent = ["a:1", "b:1", "c:1"].map((seed) => `a seed does not answer ${seed} ${seed} gave no answer`);
    expect(lines).to.deep.equal(silent);
    answers.set("b:1", TRY_LATER);
    await rounds(2, (round) => 1_000 * 2 ** round);
    expect(lines).to.deep.equal([...silent, "a seed has answered b:1 TRY_LATER"]);
  });

  it("stops asking after the wanted answer", async () => {
    answers.set("a:1", NO_SLOT);
    worth = () => "enough";
    asking.start();
    await asking.stop();
    time.advance(60_000);
    expect([asked, time.timerCount]).to.deep.equal([["a:1"], 0]);
  });

  it("takes the answer in flight when it is stopped, asks no other address, and continues when it is started", async () => {
    const { promise, resolve } = Promise.withResolvers<JoinAnswer>();
    const taken: string[] = [];
    asking = new JoinPoller({
      addresses: () => ["a:1", "b:1"],
      requestJoin: (address) => {
        asked.push(address);
        return promise;
      },
      onAnswer: (address) => {
        taken.push(address);
        return "ask-next";
      },
      scheduler: time,
      random: () => 0.5,
      log: { info: () => undefined, warn: () => undefined },
    });
    asking.start();
    const stopped = asking.stop();
    resolve(TRY_LATER);
    await stopped;
    expect([asked, taken, time.timerCount]).to.deep.equal([["a:1"], ["a:1"], 0]);
    asking.start();
    await pause();
    expect(asked).to.deep.equal(["a:1", "b:1", "a:1"]);
    await asking.stop();
    expect(time.timerCount).to.equal(0);
  });

  it("asks all at the same time on request, and returns who has answered", async () => {
    answers.set("a:1", NO_SLOT).set("c:1", TRY_LATER);
    expect([...(await asking.pollAll())].sort()).to.deep.equal([
      ["a:1", NO_SLOT],
      ["c:1", TRY_LATER],
    ]);
    expect([asked, time.timerCount]).to.deep.equal([["a:1", "b:1", "c:1"], 0]);
  });
});
