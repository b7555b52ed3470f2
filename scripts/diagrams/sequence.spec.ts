import { expect } from "chai";
import { DiagramError, drawSequence } from "./sequence.ts";

const HEAD = "title T\ncolumn a Client A\ncolumn b Member\n";

/** @returns where each text of a drawing stands: its anchor, its line, and itself */
function textsOf(svg: string): { x: number; y: number; anchor: string; text: string }[] {
  return [...svg.matchAll(/<text [^>]*x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)">([^<]*)</g)].map(
    ([, x, y, anchor = "", text = ""]) => ({ x: Number(x), y: Number(y), anchor, text }),
  );
}

describe("a sequence diagram", () => {
  it("has a column for each participant, and the steps below each other, in order", () => {
    const texts = textsOf(drawSequence(`${HEAD}# nothing\na -> b: one\nb --> a: two\nnote a: three\ntime four\n`));
    expect(texts.map(({ text }) => text)).to.deep.equal(["T", "Client A", "Member", "one", "two", "three", "four"]);
    const steps = texts.slice(3).map(({ y }) => y);
    expect(steps).to.deep.equal([...steps].sort((one, other) => one - other));
    expect(new Set(steps).size).to.equal(4);
  });

  it("keeps columns as far apart as the labels between them need", () => {
    const label = "a label that is much longer than the names of both columns together";
    const [, a, b] = textsOf(drawSequence(`${HEAD}a -> b: ${label}\n`));
    expect((b?.x ?? 0) - (a?.x ?? 0)).to.be.greaterThan(label.length * 7);
    const [, c, d] = textsOf(drawSequence(`${HEAD}note a: ${label}\nnote b: ${label}\n`));
    expect((d?.x ?? 0) - (c?.x ?? 0)).to.be.greaterThan(label.length * 7);
  });

  it("lets no label of an arrow to itself reach the next column", () => {
    const label = "a label beside the line of the first column";
    const texts = textsOf(drawSequence(`${HEAD}a -> a: ${label}\nnote b: a wide note about the member\n`));
    const own = texts.find(({ text }) => text === label);
    const note = texts.find(({ text }) => text.startsWith("a wide"));
    expect((own?.x ?? 0) + label.length * 7).to.be.lessThan((note?.x ?? 0) - ("a wide note".length * 7) / 2);
  });

  it("breaks labels at |, and escapes what SVG would read as markup", () => {
    const svg = drawSequence(`${HEAD}a -> b: x < y | & more\n`);
    expect(textsOf(svg).map(({ text }) => text)).to.include.members(["x &lt; y", "&amp; more"]);
  });

  for (const [what, text, message] of [
    ["another statement", `${HEAD}a sends b: one\n`, "line 4: not a statement: a sends b: one"],
    ["a column that is not there", `${HEAD}a -> c: one\n`, 'line 4: no column is named "c"'],
    ["no step", HEAD, "a diagram has a title, columns and steps"],
    ["no title", "column a A\nnote a: one\n", "a diagram has a title, columns and steps"],
  ] as const) {
    it(`is refused with ${what}`, () => {
      expect(() => drawSequence(text)).to.throw(DiagramError, message);
    });
  }
});
