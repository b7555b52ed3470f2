import { expect } from "chai";
import fc from "fast-check";
import { CLUSTER_ID, helloTo, incarnationOf } from "../../test/peers/index.ts";
import { FrameError } from "./frame.ts";
import {
  type AcceptorView,
  type Answer,
  decodeAnswer,
  decodeHello,
  encodeAnswer,
  encodeHello,
  type Hello,
  validateHello,
} from "./hello.ts";

const SELF = {
  memberId: 1,
  incarnation: incarnationOf(1),
  boot: 4,
  damaged: false,
  versions: { min: 1, max: 3 },
};

function view(changes: Partial<AcceptorView> = {}): AcceptorView {
  const directory = new Map([
    [1, incarnationOf(1)],
    [2, incarnationOf(2)],
    [60, ""],
  ]);
  return {
    clusterId: CLUSTER_ID,
    clusterVersion: 2,
    certainIndex: 100,
    self: SELF,
    incarnationOf: (memberId) => directory.get(memberId),
    ...changes,
  };
}

/** A valid Hello, apart from the changes. */
function hello(changes: Partial<Hello> = {}, source: Partial<Hello["source"]> = {}): Hello {
  const right = helloTo(1, changes);
  return { ...right, source: { ...right.source, versions: { min: 1, max: 2 }, ...source } };
}

describe("validateHello", () => {
  /** Each one breaks one more rule than the next, in the order of the rules. */
  const wrongs: readonly (readonly [string, (right: Hello) => Hello])[] = [
    ["WRONG_CLUSTER", (right) => ({ ...right, clusterId: "another" })],
    ["WRONG_TARGET", (right) => ({ ...right, target: { memberId: 1, incarnation: incarnationOf(8) } })],
    ["VERSION", (right) => ({ ...right, protocol: { min: 4, max: 4 } })],
    ["REMOVED", (right) => ({ ...right, source: { ...right.source, memberId: 9 } })],
    ["WRONG_INCARNATION", (right) => ({ ...right, source: { ...right.source, incarnation: incarnationOf(8) } })],
    ["STALE", (right) => ({ ...right, source: { ...right.source, boot: 2 } })],
  ];
  for (const [position, [refusal]] of wrongs.entries()) {
    it(`refuses by the first rule that fails: ${refusal}`, () => {
      const wrong = wrongs.slice(position).reduceRight((sofar, [, change]) => change(sofar), hello());
      expect(validateHello(wrong, view(), 3)).to.equal(refusal);
    });
  }

  const cases: readonly (readonly [string, string | null, Hello, Partial<AcceptorView>, number])[] = [
    ["accepts a valid Hello", null, hello(), {}, 0],
    ["accepts the boot that was seen", null, hello({}, { boot: 3 }), {}, 3],
    ["accepts a higher boot", null, hello({}, { boot: 4 }), {}, 3],
    ["accepts a damaged member", null, hello({}, { damaged: true }), {}, 0],
    ["accepts an id that is not known yet", null, hello({}, { memberId: 101 }), {}, 0],
    ["takes an id at the applied index for removed", "REMOVED", hello({}, { memberId: 100 }), {}, 0],
    ["finds a former boot of an unknown id", "STALE", hello({}, { memberId: 101, boot: 1 }), {}, 2],
    ["accepts a member whose slot is unclaimed here", null, hello({}, { memberId: 60 }), {}, 0],
    ["belongs to no cluster", "WRONG_CLUSTER", hello(), { clusterId: null }, 0],
    ["is another member", "WRONG_TARGET", hello({ target: { memberId: 3, incarnation: incarnationOf(1) } }), {}, 0],
    [
      "does not take itself for a peer",
      "WRONG_TARGET",
      hello({}, { memberId: 1, incarnation: SELF.incarnation }),
      {},
      0,
    ],
    ["speaks an older protocol", "VERSION", hello({ protocol: { min: 1, max: 1 } }), {}, 0],
    ["finds a common protocol", null, hello({ protocol: { min: 0, max: 9 } }), {}, 0],
    ["refuses a binary that is too old", "VERSION", hello({}, { versions: { min: 1, max: 1 } }), {}, 0],
    ["accepts a binary that it lags behind", null, hello({}, { versions: { min: 3, max: 4 } }), {}, 0],
  ];
  for (const [what, refusal, said, changes, bootSeen] of cases) {
    it(what, () => {
      expect(validateHello(said, view(changes), bootSeen)).to.equal(refusal);
    });
  }
});

describe("Hello codec", () => {
  const right = hello({ kind: "snapshot", joinToken: "geheim ✓" }, { boot: 7, damaged: true });

  it("decodes encoded bodies", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.boolean(), fc.string(), (boot, damaged, joinToken) => {
        const said = hello({ joinToken }, { boot, damaged });
        expect(decodeHello(encodeHello(said))).to.deep.equal(said);
      }),
    );
  });

  it("returns the announced address of the dialer, and refuses other text than IP addresses", () => {
    for (const dialHint of ["10.244.1.7", "fd00::7", null]) {
      expect(decodeHello(encodeHello({ ...right, dialHint })).dialHint).to.equal(dialHint);
    }
    for (const dialHint of ["q-0.example", "10.244.1", "10.244.1.7:7402", "[fd00::7]"]) {
      expect(() => decodeHello(encodeHello({ ...right, dialHint })), dialHint).to.throw(FrameError);
    }
  });

  it("refuses each truncation", () => {
    const body = encodeHello(right);
    for (let length = 0; length < body.length; length++) {
      expect(() => decodeHello(body.subarray(0, length)), `${length}`).to.throw(FrameError);
    }
  });

  it("refuses a field that is missing or of another type, and ignores those it does not know", () => {
    const body = JSON.parse(Buffer.from(encodeHello(right)).toString());
    const walk = (part: Record<string, unknown>, path: string): void => {
      for (const name of Object.keys(part)) {
        const value = part[name];
        for (const wrong of [undefined, null, [], {}, "", -1, 1.5, 2 ** 53, "x".repeat(2_000)]) {
          part[name] = wrong;
          const isRight =
            (wrong === "" && /^(clusterId|joinToken)$/.test(name)) || (wrong === null && name === "dialHint");
          const text = JSON.stringify(body);
          const decoding = () => decodeHello(Buffer.from(text));
          if (isRight) {
            decoding();
          } else {
            expect(decoding, `${path}${name} = ${JSON.stringify(wrong)}`).to.throw(FrameError);
          }
        }
        part[name] = value;
        if (typeof value === "object" && value !== null) {
          walk(value as Record<string, unknown>, `${path}${name}.`);
        }
      }
    };
    walk(body, "");
    expect(decodeHello(Buffer.from(JSON.stringify({ ...body, __proto__x: 1, later: [1] })))).to.deep.equal(right);
  });

  it("raises only FrameErrors, with any bytes or JSON", () => {
    const check = (body: Uint8Array) => {
      try {
        decodeHello(body);
      } catch (error) {
        expect(error).to.be.instanceOf(FrameError);
      }
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), check));
    fc.assert(fc.property(fc.json(), (json) => check(Buffer.from(json))));
  });

  it("knows the layout", () => {
    expect(Buffer.from(encodeHello(helloTo(1))).toString()).to.equal(
      '{"magic":"quoin-peer","protocol":{"min":2,"max":2},"kind":"control",' +
        '"clusterId":"6f0c9f6e-8a57-4d0e-9d0f-2f6f3c1f7a11",' +
        '"source":{"memberId":2,"incarnation":"00000000000000000000000000000002","boot":1,"damaged":false,' +
        '"versions":{"min":3,"max":7}},' +
        '"target":{"memberId":1,"incarnation":"00000000000000000000000000000001"},"joinToken":"the token of the specs","dialHint":null}',
    );
  });
});

describe("Answer codec", () => {
  const answers: readonly Answer[] = [
    { ok: true, protocol: 2, boot: 2 ** 53 - 1, damaged: true },
    { ok: false, refusal: "WRONG_CLUSTER" },
    { ok: false, refusal: "WRONG_TARGET" },
    { ok: false, refusal: "VERSION" },
    { ok: false, refusal: "REMOVED" },
    { ok: false, refusal: "WRONG_INCARNATION" },
    { ok: false, refusal: "STALE" },
    { ok: false, refusal: "BUSY" },
  ];

  it("returns each answer, whose number is final, and refuses each truncation", () => {
    for (const [number, answer] of answers.entries()) {
      const body = encodeAnswer(answer);
      expect(decodeAnswer(body)).to.deep.equal(answer);
      expect(body[7]).to.equal(number);
      for (let length = 0; length < body.length; length++) {
        expect(() => decodeAnswer(body.subarray(0, length))).to.throw(FrameError);
      }
    }
  });

  it("raises only FrameErrors, with any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (body) => {
        expect(() => decodeAnswer(body)).to.throw(FrameError);
      }),
      { examples: [[new Uint8Array(32).fill(0xff)]] },
    );
  });
});
