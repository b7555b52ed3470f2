import { expect } from "chai";
import { PythonMissing } from "../../../e2e/python/index.ts";
import { AppendLoad, ClusterUnderTest } from "../../../node/test/harness/index.ts";
import { judgeHistory, logCheck, SEARCH_LIMIT_MS, withPages } from "../../../node/verify/history/index.ts";
import { GoMissing } from "../../../scripts/go/index.ts";
import { RemoteSdk, SDK_LANGUAGES, type SdkLanguage } from "./remote-sdk.ts";

const TIMEOUT_MS = 5_000;

describe("the clients of an SDK in another language, in a load", function () {
  // The first run in Go compiles everything.
  this.timeout(300_000);
  let cluster: ClusterUnderTest | undefined;
  // Each history begins with no key.
  beforeEach(async () => {
    cluster = await ClusterUnderTest.start(3);
  });
  afterEach(() => cluster?.dispose());

  for (const language of SDK_LANGUAGES) {
    it(`${language}: keys and event logs keep a correct history while the leader is killed`, async function () {
      const tried = cluster as ClusterUnderTest;
      const sdk = await startOrSkip(language, tried, this);
      try {
        const { connect } = sdk;
        const keys = tried.load({ clients: 4, readers: 1, keys: 5, seed: 1, timeoutMs: TIMEOUT_MS, connect });
        const appends = new AppendLoad({
          cluster: tried,
          clients: 2,
          logs: 1,
          name: language,
          seed: 1,
          timeoutMs: TIMEOUT_MS,
          connect,
        });
        keys.start();
        appends.start();
        await keys.untilAcknowledged(100);
        await appends.untilAcknowledged(20);
        const leader = await tried.leader();
        await leader.kill();
        leader.start();
        await keys.untilAcknowledged(100);
        await appends.untilAcknowledged(20);
        await keys.stop();
        await appends.stop();
        await keys.readAll();
        await appends.readAll();
        const history = withPages(keys.history.operations, keys.pages);
        expect(judgeHistory(history, { nowMs: () => performance.now(), limitMs: SEARCH_LIMIT_MS })).to.deep.equal([]);
        expect(logCheck(appends.history.operations)).to.deep.equal([]);
        expect(keys.pages).to.not.be.empty;
        expect(appends.counts.stored).to.be.above(40);
      } finally {
        await sdk.close();
      }
    });
  }

  it("ends the load when the runner ends", async function () {
    const tried = cluster as ClusterUnderTest;
    const sdk = await startOrSkip("python-threads", tried, this);
    const keys = tried.load({ clients: 1, keys: 1, seed: 1, timeoutMs: TIMEOUT_MS, connect: sdk.connect });
    keys.start();
    await keys.untilAcknowledged(10);
    await sdk.close();
    await keys.ended;
    await keys.stop().then(
      () => expect.fail("the load has not failed"),
      (error: unknown) => expect(String(error)).to.include("the runner has ended"),
    );
  });
});

/** Skips the test where the language is not there. */
async function startOrSkip(
  language: SdkLanguage,
  cluster: ClusterUnderTest,
  context: Mocha.Context,
): Promise<RemoteSdk> {
  try {
    return await RemoteSdk.start(language, cluster.secrets.apiKey);
  } catch (error) {
    if (error instanceof PythonMissing || error instanceof GoMissing) {
      console.log(`skipped: ${error.message}`);
      context.skip();
    }
    throw error;
  }
}
