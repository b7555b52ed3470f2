/** Every JSON body between members, as releases have recorded it: how it is read, how it is sent, how it is refused. */

import { expect } from "chai";
import { FrameError } from "./frame.ts";
import { decodeHello, encodeHello, type Hello, PROTOCOL_VERSIONS } from "./hello.ts";
import { decodeJoin, decodeJoinAnswer, encodeJoin, encodeJoinAnswer, type JoinAnswer } from "./join-codec.ts";
import {
  decodeLeaderReply,
  decodeLeaderRequest,
  encodeLeaderReply,
  encodeLeaderRequest,
  type LeaderReply,
  type LeaderRequest,
} from "./leader-request-codec.ts";
import {
  decodeManifest,
  decodeTrailer,
  encodeManifest,
  encodeTrailer,
  type SnapshotManifest,
  type SnapshotTrailer,
} from "./snapshot-codec.ts";

const CLUSTER = '"clusterId":"6f0c9f6e-8a57-4d0e-9d0f-2f6f3c1f7a11"';
const ONE = '"memberId":1,"incarnation":"00000000000000000000000000000001"';
const TWO = '"memberId":2,"incarnation":"00000000000000000000000000000002"';
const ARCHIVE =
  '{"isArchiving":true,"index":9,"revision":8,"wallMs":7,"chainIndex":6,"isBroken":false,"breaks":5,' +
  '"lastSuccessMs":4,"failures":3}';

/** The fields of a body by their names. */
type Fields = Record<string, unknown>;

interface Recorded {
  readonly bytes: string;
  readonly decode: (body: Uint8Array) => unknown;
  /** Encodes what `decode` has returned. */
  readonly encode: (value: never) => Uint8Array;
}

const hello = { decode: decodeHello, encode: (value: Hello) => encodeHello(value) };
const answer = { decode: decodeJoinAnswer, encode: (value: JoinAnswer) => encodeJoinAnswer(value) };
const question = { decode: decodeLeaderRequest, encode: (value: LeaderRequest) => encodeLeaderRequest(value) };
const reply = { decode: decodeLeaderReply, encode: (value: LeaderReply) => encodeLeaderReply(value) };
const join = {
  decode: decodeJoin,
  encode: ({ request, joinToken }: ReturnType<typeof decodeJoin>) => encodeJoin(request, joinToken),
};

const RECORDED: Readonly<Record<string, Recorded>> = {
  "a Hello": {
    ...hello,
    bytes:
      `{"magic":"quoin-peer","protocol":{"min":2,"max":2},"kind":"log",${CLUSTER},` +
      `"source":{${TWO},"boot":1,"damaged":false,"versions":{"min":3,"max":4}},"target":{${ONE}},` +
      '"joinToken":"token","dialHint":"10.244.1.7"}',
  },
  "a join request": {
    ...join,
    bytes:
      '{"magic":"quoin-join","protocol":{"min":2,"max":2},"joinToken":"token","clusterName":"demo",' +
      '"clusterId":null,"memberId":0,"name":"demo-1","incarnation":"00000000000000000000000000000007",' +
      '"endpoints":{"peerEndpoint":"demo-1:7402","grpcEndpoint":"demo-1:7400","httpEndpoint":"[::1]:7401"},' +
      '"versions":{"min":1,"max":2}}',
  },
  "a join answer with a slot": {
    ...answer,
    bytes: `{"result":"ACCEPTED",${CLUSTER},"memberId":12,"directory":[{${ONE},"address":"[::1]:7402"}],"index":15}`,
  },
  "a join answer without more": { ...answer, bytes: '{"result":"TRY_LATER"}' },
  "a join answer about a taken slot": { ...answer, bytes: '{"result":"SLOT_TAKEN","memberId":512}' },
  "a join answer of another cluster": { ...answer, bytes: '{"result":"WRONG_CLUSTER"}' },
  "a join answer of a successor": {
    ...answer,
    bytes: `{"result":"WRONG_CLUSTER","successor":{${CLUSTER},"sinceMs":1750000000000}}`,
  },
  "a question of a member that does not archive": { ...question, bytes: '{"seq":1,"term":2,"kind":"membership"}' },
  "a question of a member that may archive": {
    ...question,
    bytes: `{"seq":1,"term":2,"kind":"membership","archive":${ARCHIVE}}`,
  },
  "a question about a transfer": { ...question, bytes: '{"seq":1,"term":2,"kind":"transfer","target":0,"ifTerm":0}' },
  "a reply about the members": {
    ...reply,
    bytes:
      '{"seq":1,"term":2,"kind":"membership","commitIndex":3,"changing":true,' +
      '"health":[{"id":4,"lagMs":5,"contactAgeMs":6,"promotable":false}]}',
  },
  "a reply about the members and the archive": {
    ...reply,
    bytes:
      '{"seq":1,"term":2,"kind":"membership","commitIndex":3,"changing":true,"health":[],' +
      `"archive":{"archiverId":4,"archive":${ARCHIVE}}}`,
  },
  "a reply about a transfer": { ...reply, bytes: '{"seq":1,"term":2,"kind":"transfer"}' },
  "a refusal": { ...reply, bytes: '{"seq":1,"term":2,"kind":"refused","reason":"behind"}' },
  "a manifest": {
    decode: decodeManifest,
    encode: (value: SnapshotManifest) => encodeManifest(value),
    bytes: `{"format":1,${CLUSTER},"term":5,"index":90,"entryTerm":4,"clusterVersion":1}`,
  },
  "a trailer": {
    decode: decodeTrailer,
    encode: (value: SnapshotTrailer) => encodeTrailer(value),
    bytes: '{"chunks":1,"rows":2,"sha256":"ab"}',
  },
};

/** The objects in a value, from the outermost. */
function objectsIn(value: unknown): Fields[] {
  if (typeof value !== "object" || value === null) {
    return [];
  }
  const inner = Object.values(value).flatMap(objectsIn);
  return Array.isArray(value) ? inner : [value as Fields, ...inner];
}

describe("JSON bodies between members", () => {
  for (const [title, { bytes, decode, encode }] of Object.entries(RECORDED)) {
    it(`reads ${title} of an older release, and sends the same bytes back`, () => {
      const value = decode(Buffer.from(bytes));
      // A process that asks to join names the protocols of its own release.
      const own = `"protocol":${JSON.stringify(PROTOCOL_VERSIONS)}`;
      const sent = title === "a join request" ? bytes.replace('"protocol":{"min":2,"max":2}', own) : bytes;
      expect(Buffer.from(encode(value as never)).toString()).to.equal(sent);
    });

    it(`reads ${title} of a newer release, which may have more fields everywhere`, () => {
      const newer = JSON.parse(bytes);
      for (const fields of objectsIn(newer)) {
        Object.assign(fields, { later: [{}], laterToo: null });
      }
      expect(decode(Buffer.from(JSON.stringify(newer)))).to.deep.equal(decode(Buffer.from(bytes)));
    });

    it(`refuses ${title} without one of its fields, and names the field`, () => {
      const objects = objectsIn(JSON.parse(bytes)).length;
      for (let at = 0; at < objects; at++) {
        for (const name of Object.keys(objectsIn(JSON.parse(bytes))[at] ?? {})) {
          const lacking = JSON.parse(bytes);
          delete objectsIn(lacking)[at]?.[name];
          // Releases without an archive, and clusters without a successor, leave these fields out.
          if (["archive", "successor"].includes(name) && at === 0) {
            decode(Buffer.from(JSON.stringify(lacking)));
          } else {
            expect(() => decode(Buffer.from(JSON.stringify(lacking))), name).to.throw(FrameError, `${name} of `);
          }
        }
      }
    });
  }

  const broken: readonly (readonly [title: string, from: string, to: string, message: string])[] = [
    ["a Hello", '"boot":1', '"boot":1.5', "the field source.boot of a Hello is not a whole number from 0 to 2^53 − 1"],
    [
      "a Hello",
      '"memberId":2',
      '"memberId":0',
      "the field source.memberId of a Hello is not a whole number from 1 to 2^53 − 1",
    ],
    ["a Hello", '"log"', '"logs"', "the field kind of a Hello is not one of control, log, snapshot"],
    ["a Hello", "10.244.1.7", "q-0.example", "the field dialHint of a Hello is not an IP address"],
    ["a Hello", '"joinToken":"token",', "", "the field joinToken of a Hello is missing"],
    [
      "a Hello",
      '"max":4',
      '"max":"4"',
      "the field source.versions.max of a Hello is not a whole number from 0 to 2^53 − 1",
    ],
    ["a join request", "quoin-join", "quoin-peer", "the field magic of a join request is not quoin-join"],
    [
      "a join answer with a slot",
      '"memberId":1,',
      '"memberId":"1",',
      "the field directory.0.memberId of a join answer is not a whole number from 1 to 2^53 − 1",
    ],
    ["a join answer with a slot", "6f0c", "6F0C", "the field clusterId of a join answer is not a UUID in lower case"],
    [
      "a join answer without more",
      "TRY_LATER",
      "MAYBE",
      "the field result of a join answer is not one of ACCEPTED, SLOT_TAKEN, WRONG_CLUSTER, NO_SLOT, VERSION, REMOVED, NO_CLUSTER, TRY_LATER",
    ],
    [
      "a question about a transfer",
      '"transfer"',
      '"other"',
      "the field kind of a question is not one of membership, transfer",
    ],
    ["a reply about the members", "[{", "{", "a reply is not JSON"],
    ["a trailer", '{"chunks":1,"rows":2,"sha256":"ab"}', "[]", "a trailer is not a JSON object"],
  ];
  for (const [title, from, to, message] of broken) {
    it(`names the field and the rule in ${title}: ${message}`, () => {
      const { bytes, decode } = RECORDED[title] as Recorded;
      expect(bytes).to.include(from);
      expect(() => decode(Buffer.from(bytes.replace(from, to)))).to.throw(FrameError, message);
    });
  }

  it("leaves the value out of the error, which may be a token", () => {
    const { bytes, decode } = RECORDED["a Hello"] as Recorded;
    const secret = "s".repeat(2_000);
    expect(() => decode(Buffer.from(bytes.replace('"token"', `"${secret}"`)))).to.throw(
      FrameError,
      /^the field joinToken of a Hello is not a text of at most 1024 characters$/,
    );
  });
});
