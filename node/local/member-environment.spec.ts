/** Rules for the processes of members that hold in every environment. */

import { readFileSync } from "node:fs";
import { expect } from "chai";
import { ARENAS, NODE_FLAGS } from "./member-environment.ts";

describe("the process of a member", () => {
  it("is started with the flags and the environment that the image has", () => {
    const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
    expect(textOf("image/bin/quoin-node")).to.include(`exec node ${NODE_FLAGS.join(" ")} `);
    expect(textOf("Dockerfile")).to.match(new RegExp(`^ENV .*\\bMALLOC_ARENA_MAX=${ARENAS}$`, "m"));
  });
});
