/** The JSON codec, for every message of the contract: against the library that implements the mapping, and alone. */

import { type DescMessage, fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import {
  decodeRequest,
  GetKeyResponse,
  type MessageCodec,
  type NestedTransaction,
  PutKeyRequest,
  PutSettingsRequest,
  serviceDefinitions,
  type TransactRequest,
} from "@quoin/proto";
import { expect } from "chai";
import { CoordinationError } from "../../state/index.ts";
import { decodeJson, encodeJson } from "./index.ts";
import { contractRegistry, type FieldPlan, messagePlan } from "./message-plan.ts";

type AnyCodec = MessageCodec<object> & { create(fields: object): object };

const METHODS = Object.values(serviceDefinitions).flatMap((service) => Object.values(service));
const CODECS = new Map(
  METHODS.flatMap(({ requestCodec, responseCodec }) =>
    [requestCodec, responseCodec].map((codec) => [codec.$type, codec as unknown as AnyCodec] as const),
  ),
);

/**
 * A message with a value other than the default one in every field; of fields that exclude each other, in the last one.
 * A message that contains itself does so once.
 */
function fullMessage(typeName: string, around: readonly string[] = []): Record<string, unknown> {
  const within = [...around, typeName];
  const given = descriptorOf(typeName).fields.filter(({ oneof, message, number, fieldKind }) => {
    const isLast = oneof === undefined || oneof.fields.at(-1)?.number === number;
    return isLast && (fieldKind === "list" || !within.includes(message?.typeName ?? ""));
  });
  const plan = messagePlan(typeName);
  return Object.fromEntries(
    given.map(({ jsonName, message }) => [
      jsonName,
      within.includes(message?.typeName ?? "") ? [] : fullField(plan.byName.get(jsonName) as FieldPlan, within),
    ]),
  );
}

function fullField(field: FieldPlan, within: readonly string[]): unknown {
  const value = () => fullValue(field, within);
  if (field.isMap) {
    return new Map([
      ["a", value()],
      ["__proto__", value()],
    ]);
  }
  return field.isRepeated ? [value(), value()] : value();
}

function fullValue({ kind, message, numbers }: FieldPlan, within: readonly string[]): unknown {
  switch (kind) {
    case "string":
      return 'text "\u0000\u{1f600}\ufeff';
    case "bytes":
      return Uint8Array.from([0xff, 0xfe, 0, 1]);
    case "bool":
      return true;
    case "int64":
      return BigInt(Number.MIN_SAFE_INTEGER);
    case "uint64":
      return BigInt(Number.MAX_SAFE_INTEGER);
    case "int32":
      return -(2 ** 31);
    case "uint32":
      return 2 ** 32 - 1;
    case "enum":
      return [...numbers.values()].at(-1);
    case "message":
      return fullMessage(message?.typeName as string, within);
  }
}

function descriptorOf(typeName: string): DescMessage {
  return contractRegistry().getMessage(typeName) as DescMessage;
}

function decode(codec: { readonly $type: string }, json: unknown): unknown {
  return decodeJson(codec.$type, Buffer.from(typeof json === "string" ? json : JSON.stringify(json)));
}

/** The message of the refusal of this JSON as a PutKeyRequest, and the field that its details name. */
function refusalOf(json: unknown, codec: { readonly $type: string } = PutKeyRequest): string {
  try {
    decode(codec, json);
  } catch (error) {
    expect(error).to.be.instanceOf(CoordinationError);
    const { message, reason, details } = error as CoordinationError;
    expect(reason).to.equal("BAD_FIELD");
    const field = details.get("field");
    expect(message).to.include(field === undefined ? "the request" : `field ${field} `);
    return message;
  }
  return expect.fail("it was decoded");
}

describe("messages in JSON", () => {
  for (const [typeName, codec] of CODECS) {
    it(`${typeName} is written and read like the library does, with and without values`, () => {
      const descriptor = descriptorOf(typeName);
      for (const message of [codec.create({}), fullMessage(typeName)]) {
        const bytes = codec.encode(message).finish();
        const expected = toJson(descriptor, fromBinary(descriptor, bytes), { alwaysEmitImplicit: true });
        const json = encodeJson(typeName, message, false);
        expect(JSON.parse(json)).to.deep.equal(expected);
        expect(decode(codec, json)).to.deep.equal(decodeRequest(codec, bytes));
        const again = fromJson(descriptor, JSON.parse(json) as JsonValue);
        expect(toBinary(descriptor, again)).to.deep.equal(bytes);
      }
    });
  }

  it("takes the names of the definition too, integers as numbers or text, and null for a default", () => {
    const expected = PutKeyRequest.create({ key: "k", ttlSeconds: 5n, expectedModRevision: 0n });
    for (const json of [
      { key: "k", ttl_seconds: 5, expected_mod_revision: "0" },
      { key: "k", ttlSeconds: "5", expectedModRevision: 0, namespace: null, guard: null, value: null },
      '{"key": "k", "ttlSeconds": 5.0, "expectedModRevision": -0}',
      '{"key": "k", "ttlSeconds": 0.5e1, "expectedModRevision": "00"}',
    ]) {
      expect(decode(PutKeyRequest, json)).to.deep.equal(expected);
    }
  });

  it("takes bytes as base64 of either alphabet, padded or not, or as text", () => {
    const value = Uint8Array.from([0xfb, 0xff, 0xfe, 0x3f]);
    for (const text of ["+//+Pw==", "+//+Pw", "-__-Pw==", "-__-Pw"]) {
      expect(decode(PutKeyRequest, { value: text }), text).to.deep.equal(PutKeyRequest.create({ value }));
    }
    for (const name of ["valueText", "value_text"]) {
      const asText = decode(PutKeyRequest, { [name]: "grüezi\u0000" });
      expect(asText).to.deep.equal(PutKeyRequest.create({ value: new TextEncoder().encode("grüezi\u0000") }));
    }
  });

  it("adds the text of bytes that are UTF-8, if requested", () => {
    const text = Buffer.from("grüezi");
    const written = JSON.parse(encodeJson(GetKeyResponse.$type, GetKeyResponse.create({ value: text }), true));
    expect([written.value, written.valueText]).to.deep.equal([text.toString("base64"), "grüezi"]);
    const bytes = GetKeyResponse.create({ value: Uint8Array.from([0xff]) });
    expect(JSON.parse(encodeJson(GetKeyResponse.$type, bytes, true))).not.to.have.property("valueText");
  });

  it("keeps names of maps that objects have by themselves", () => {
    const { values } = decode(PutSettingsRequest, '{"values": {"__proto__": "x"}}') as PutSettingsRequest;
    expect([...values]).to.deep.equal([["__proto__", "x"]]);
  });

  it("takes all transactions within each other that the contract allows, and the next one", () => {
    const [start, end] = ['{"success":[{"transaction":', "}]}"];
    const event = '{"success":[{"append":{"payloads":["YQ=="]}}]}';
    const decoded = (depth: number) =>
      decodeJson("coordination.v1.TransactRequest", Buffer.from(`${start.repeat(depth)}${event}${end.repeat(depth)}`));
    for (const depth of [7, 8]) {
      let innermost = decoded(depth) as TransactRequest | NestedTransaction;
      for (let level = 0; level < depth; level++) {
        innermost = innermost.success[0]?.transaction as NestedTransaction;
      }
      expect(innermost.success[0]?.append?.payloads).to.deep.equal([Uint8Array.of(0x61)]);
    }
    expect(() => decoded(100_000)).to.throw("the request must not be nested deeper than 32 levels");
  });

  it("is an empty message if there are no bytes", () => {
    expect(decode(PutKeyRequest, "")).to.deep.equal(PutKeyRequest.create({}));
  });

  for (const [json, problem] of [
    ["{", "the request is not valid JSON in UTF-8"],
    ['{"key": "k"} x', "the request is not valid JSON in UTF-8"],
    ["[]", "the request must be a JSON object"],
    ["null", "the request must be a JSON object"],
    [{ ttl: 1 }, "field ttl is unknown; did you mean ttlSeconds?"],
    [
      { exp_mod_revision: 1 },
      "field exp_mod_revision is unknown: PutKeyRequest has namespace, key, value, valueText, ttl",
    ],
    [{ guard: { token: 1 } }, "field guard.token is unknown: Guard has lockName, fencingToken, rw"],
    [{ guard: { lock: "l" } }, "field guard.lock is unknown; did you mean lockName?"],
    ['{"__proto__": {}}', "field __proto__ is unknown"],
    [{ key: 1 }, "field key must be a string"],
    [{ key: "\ud800" }, "field key has a surrogate without its other half"],
    [{ value: "hello" }, "field value must be base64; send UTF-8 text as value_text"],
    [{ value: "a b=" }, "field value must be base64"],
    [{ value: [1] }, "field value must be base64"],
    [{ valueText: "\udc00" }, "field valueText has a surrogate"],
    [{ value: "aGk=", value_text: "hi" }, "field value is given twice: send value or valueText, not both"],
    [{ ttl_seconds: 1, ttlSeconds: 1 }, "field ttl_seconds is given twice, as ttl_seconds and as ttlSeconds"],
    ['{"key": "a", "key": "a"}', "field key is given twice"],
    ['{"key": "a", "k\\u0065y": "b"}', "field key is given twice"],
    ['{"guard": {"rw": true, "lockName": "a", "lockName": "b"}}', "field guard.lockName is given twice"],
    [{ ttlSeconds: 1.5 }, "field ttl_seconds must be a whole number"],
    [{ ttlSeconds: "1.0" }, "field ttl_seconds must be a whole number"],
    [{ ttlSeconds: true }, "field ttl_seconds must be a whole number"],
    [{ ttlSeconds: "9007199254740992" }, "field ttl_seconds is outside ±(2^53 - 1)"],
    ['{"ttlSeconds": 9007199254740993}', "field ttl_seconds is outside ±(2^53 - 1)"],
    ['{"ttlSeconds": 1e999}', "field ttl_seconds is outside ±(2^53 - 1)"],
    [{ returnPrevious: "true" }, "field return_previous must be true or false"],
    [{ guard: [] }, "field guard must be a JSON object"],
    [{ guard: { fencingToken: "x" } }, "field guard.fencing_token must be a whole number"],
  ] as const) {
    it(`refuses ${JSON.stringify(json)}`, () => {
      expect(refusalOf(json)).to.include(problem);
    });
  }

  it("refuses bytes that are not UTF-8, lists that are not lists, and names that no enum has", () => {
    expect(() => decodeJson(PutKeyRequest.$type, Buffer.from('{"key": "\xff"}', "latin1"))).to.throw("UTF-8");
    const { RemoveMembersRequest, GetKeyRequest, ListKeysRequest } = Object.fromEntries(
      [...CODECS].map(([name, codec]) => [name.slice(name.lastIndexOf(".") + 1), codec]),
    ) as Record<string, AnyCodec>;
    expect(refusalOf({ ids: "1" }, RemoveMembersRequest)).to.equal("field ids must be a JSON array");
    const names = "field consistency must be one of LINEARIZABLE, SERIALIZABLE";
    expect(refusalOf({ consistency: "FAST" }, GetKeyRequest)).to.equal(names);
    expect(refusalOf({ consistency: true }, GetKeyRequest)).to.equal(names);
    expect(refusalOf({ pageSize: 2 ** 31 }, ListKeysRequest)).to.include("from -2147483648 to 2147483647");
  });

  it("passes the number of an enum that this release does not know, as protobuf does", () => {
    const codec = CODECS.get("coordination.v1.GetKeyRequest") as AnyCodec;
    expect(decode(codec, { consistency: 9 })).to.deep.include({ consistency: 9 });
  });
});
