import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { until } from "../../../test/harness/index.ts";
import { Inflater } from "./inflater.ts";

const BYTES_MAX = 100_000;

describe("Inflater", () => {
  let ended: string[];

  beforeEach(() => {
    ended = [];
  });

  function inflate(inflater: Inflater, name: string, message: Buffer = gzipSync(name)) {
    return inflater.inflate(message, BYTES_MAX, (error, inflated) => {
      ended.push(error === null ? inflated.toString() : `${name}: ${error.code}`);
    });
  }

  it("decompresses no more messages at the same time than allowed, in their order", async () => {
    const inflater = new Inflater(1);
    const bomb = gzipSync(Buffer.alloc(BYTES_MAX + 1));
    const names = ["first", "second", "third", "fourth"];
    for (const name of names) {
      inflate(inflater, name, name === "second" ? bomb : undefined);
    }
    expect(ended, "in this turn").to.deep.equal([]);
    await until("all", () => ended.length === names.length);
    expect(ended).to.deep.equal(["first", "second: ERR_BUFFER_TOO_LARGE", "third", "fourth"]);
  });

  it("reports broken messages, and continues", async () => {
    const inflater = new Inflater(1);
    inflate(inflater, "empty", Buffer.alloc(0));
    inflate(inflater, "plain", Buffer.from("plain"));
    inflate(inflater, "cut", gzipSync("cut").subarray(0, -1));
    inflate(inflater, "last");
    await until("all", () => ended.length === 4);
    expect(ended).to.deep.equal(["empty: Z_BUF_ERROR", "plain: Z_DATA_ERROR", "cut: Z_BUF_ERROR", "last"]);
  });

  it("forgets cancelled messages, whether they wait or not", async () => {
    const inflater = new Inflater(1);
    const [running, waiting] = ["running", "waiting"].map((name) => inflate(inflater, name));
    inflate(inflater, "last");
    for (const inflation of [running, waiting]) {
      if (inflation !== undefined) {
        inflater.cancel(inflation);
      }
    }
    await until("the last one", () => ended.length > 0);
    expect(ended).to.deep.equal(["last"]);
  });
});
