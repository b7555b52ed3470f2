import { expect } from "chai";
import { listenToMarks, mark } from "./mark.ts";

describe("marks", () => {
  afterEach(() => listenToMarks(null));

  it("report each passing to the listener, in order, and do nothing without one", () => {
    const passed: string[] = [];
    mark("before the first listener");
    listenToMarks((name) => passed.push(name));
    mark("a");
    mark("b");
    mark("a");
    listenToMarks(null);
    mark("after");
    expect(passed).to.deep.equal(["a", "b", "a"]);
  });

  it("have one listener: the newest", () => {
    const first: string[] = [];
    const second: string[] = [];
    listenToMarks((name) => first.push(name));
    listenToMarks((name) => second.push(name));
    mark("a");
    expect([first, second]).to.deep.equal([[], ["a"]]);
  });

  it("let a listener end the run at that point", () => {
    listenToMarks(() => {
      throw new Error("crashed here");
    });
    expect(() => mark("a")).to.throw("crashed here");
  });
});
