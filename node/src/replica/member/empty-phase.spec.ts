import { expect } from "chai";
import { FakeTime } from "../../../test/harness/index.ts";
import { FOUNDING, refused } from "../../../test/index.ts";
import type { JoinAnswer } from "../../peers/index.ts";
import { CoordinationError, type MemberAddress } from "../../state/index.ts";
import type { DataDirectory, MemberData } from "../../storage/index.ts";
import { EmptyPhase } from "./empty-phase.ts";
import type { MemberContext } from "./member-context.ts";
import { StatusLog } from "./member-status.ts";

const ADDRESS: MemberAddress = { peerEndpoint: "own:1", grpcEndpoint: "own:2", httpEndpoint: "own:3" };

describe("EmptyPhase", () => {
  let time: FakeTime;
  /** Seeds that were asked, and the answer that all of them give. */
  let asked: string[];
  let answer: PromiseWithResolvers<JoinAnswer>;
  let founded: PromiseWithResolvers<MemberData>;
  let isStopping: boolean;
  let phase: EmptyPhase;

  beforeEach(() => {
    time = new FakeTime();
    asked = [];
    answer = Promise.withResolvers();
    founded = Promise.withResolvers();
    isStopping = false;
    const log = { info: () => undefined, warn: () => undefined };
    const requestJoin = (seed: string): Promise<JoinAnswer> => {
      asked.push(seed);
      return answer.promise;
    };
    // Only the fields that this phase reads.
    const context = {
      options: { name: "q-0", clusterName: "spec", record: null, clock: time, scheduler: time, log },
      connections: { peers: { requestJoin }, peering: { seeds: [ADDRESS.peerEndpoint, "a:1"], random: () => 0.5 } },
      statusLog: new StatusLog({ state: "EMPTY", reason: "" }, time, log),
      isStopping: () => isStopping,
    } as unknown as MemberContext;
    const directory = {
      phase: "empty",
      identity: { incarnation: "ab".repeat(16) },
      found: () => founded.promise,
    } as unknown as DataDirectory & { readonly phase: "empty" };
    phase = new EmptyPhase(context, directory, () => undefined);
  });
  afterEach(() => phase.stopAsking());

  it("asks for no slot during a founding, also if its address becomes known then, and asks after its failure", async () => {
    const founding = refused(() => phase.found(FOUNDING));
    phase.introduce(ADDRESS);
    expect([asked, phase.mayFound]).to.deep.equal([[], false]);
    founded.reject(new CoordinationError("BAD_FIELD", "the backup cannot be used"));
    expect((await founding).reason).to.equal("BAD_FIELD");
    expect(asked).to.deep.equal(["a:1"]);
    expect([phase.mayFound, phase.status]).to.deep.equal([
      true,
      { state: "EMPTY", reason: "the backup cannot be used" },
    ]);
    answer.resolve({ result: "NO_CLUSTER" });
  });

  it("does not ask again after a founding that a stop has ended", async () => {
    phase.introduce(ADDRESS);
    const founding = refused(() => phase.found(FOUNDING));
    expect(asked).to.deep.equal(["a:1"]);
    isStopping = true;
    answer.resolve({ result: "NO_CLUSTER" });
    expect((await founding).reason).to.equal("SHUTTING_DOWN");
    // Once in turn, and once more for the founding.
    expect(asked).to.deep.equal(["a:1", "a:1"]);
    expect(time.timerCount).to.equal(0);
  });
});
