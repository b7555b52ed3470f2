import { expect } from "chai";
import { Command } from "commander";
import { choice, flag, option } from "../arguments/index.ts";
import { parseCount } from "../text/index.ts";
import { command } from "./command-form.ts";
import type { Session } from "./session.ts";

/** What the command reads of a command line; a text = the complaint. */
async function read(words: readonly string[]): Promise<unknown> {
  let got: unknown;
  let complaint = "";
  const program = new Command().exitOverride().configureOutput({ writeErr: (text) => (complaint += text) });
  const add = command("do <NAME> <N> [MORE...]", {
    description: "does it",
    arguments: { N: { parse: parseCount } },
    options: {
      ifRevision: option("<N>", "a number", parseCount),
      text: option("<TEXT>", "a text").without("isOn"),
      isOn: flag("a flag"),
      mode: choice("<MODE>", "a word", ["read", "write"]).byDefault("write"),
      lacking: undefined,
    },
    run: async (_session, name: string, count: number, more, options) => {
      const mode: "read" | "write" = options.mode;
      const given: number | undefined = options.ifRevision;
      got = [name, count, more, { ...options, mode, ...(given === undefined ? {} : { ifRevision: given }) }];
    },
  });
  add(program, {} as Session);
  return program.parseAsync(words, { from: "user" }).then(
    () => got,
    () => complaint,
  );
}

describe("the form of a command", () => {
  it("gives the command what its usage and its options declare", async () => {
    expect(await read(["do", "a", "7"])).to.deep.equal(["a", 7, [], { mode: "write" }]);
    expect(await read(["do", "--if-revision", "3", "a", "0", "b", "c", "--is-on", "--mode", "read"])).to.deep.equal([
      "a",
      0,
      ["b", "c"],
      { mode: "read", ifRevision: 3, isOn: true },
    ]);
  });

  it("refuses values against their rule, with the name of the option or argument", async () => {
    const rule = "Give a whole number from 0 to 2^53 - 1.\n";
    expect(await read(["do", "a", "0", "--if-revision", "x"])).to.equal(
      `error: option '--if-revision <N>' argument 'x' is invalid. ${rule}`,
    );
    expect(await read(["do", "a", "x"])).to.equal(
      `error: command-argument value 'x' is invalid for argument 'N'. ${rule}`,
    );
    expect(await read(["do", "a", "0", "--mode", "x"])).to.equal(
      "error: option '--mode <MODE>' argument 'x' is invalid. Allowed choices are read, write.\n",
    );
    expect(await read(["do", "a", "0", "--text", "x", "--is-on"])).to.equal(
      "error: option '--text <TEXT>' cannot be used with option '--is-on'\n",
    );
  });
});
