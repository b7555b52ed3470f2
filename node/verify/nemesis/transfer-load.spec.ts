import { expect } from "chai";
import { contradictionsOfOutbox } from "./transfer-load.ts";

describe("the outbox of transfers", () => {
  const succeeded = (event: string, revision: number) => ({ event, outcome: "succeeded", revision }) as const;
  const transfers = [
    succeeded("a", 2),
    succeeded("b", 5),
    { event: "lost", outcome: "unknown", revision: 0 } as const,
    { event: "no", outcome: "not-executed", revision: 0 } as const,
  ];
  const judge = (...outbox: readonly string[]): string => contradictionsOfOutbox(outbox, transfers).join("\n");

  it("has one event for each transfer that has succeeded, in their order, and perhaps those of unknown outcome", () => {
    expect(judge("a", "b")).to.equal("");
    expect(judge("a", "lost", "b")).to.equal("");
  });

  it("lacks none, has none twice, none in another order, and none of what was not executed", () => {
    expect(judge("a")).to.match(/every transfer that has succeeded, but not b/);
    expect(judge("a", "b", "a")).to.match(/twice: a/);
    expect(judge("b", "a")).to.match(/the order of the transfers: a at revision 2 after 5/);
    expect(judge("a", "b", "no")).to.match(/not executed: no/);
    expect(judge("a", "b", "x")).to.match(/not executed: x/);
    expect(judge("a", "b", "lost", "lost")).to.match(/twice: lost/);
  });
});
