import { expect } from "chai";
import { Fragment, h, options } from "preact";
import { showNamesEscaped } from "./shown-names.ts";

const NAME = "cr\r\u202e";
const SHOWN = "cr\\r\\u{202e}";

describe("names in the console", () => {
  const { vnode } = options;

  before(showNamesEscaped);

  after(() => {
    if (vnode === undefined) {
      delete options.vnode;
    } else {
      options.vnode = vnode;
    }
  });

  const childrenOf = ({ props }: { readonly props: object }): unknown =>
    "children" in props ? props.children : undefined;

  it("are escaped in every element, in fragments and lists", () => {
    expect(childrenOf(h("td", null, NAME))).to.equal(SHOWN);
    expect(childrenOf(h("p", null, "Key ", NAME, 7, null))).to.deep.equal(["Key ", SHOWN, 7, null]);
    expect(childrenOf(h("p", null, [[NAME], NAME]))).to.deep.equal([[SHOWN], SHOWN]);
    expect(childrenOf(h(Fragment, null, NAME))).to.equal(SHOWN);
  });

  it("are escaped in attributes that people read, and stay as they are in those that programs read", () => {
    const { props } = h("a", { title: NAME, "aria-label": NAME, href: `#${NAME}` });
    expect(props).to.deep.include({ title: SHOWN, "aria-label": SHOWN, href: `#${NAME}` });
    const input = h("input", { value: NAME, placeholder: NAME });
    expect(input.props).to.deep.include({ value: NAME, placeholder: SHOWN });
  });

  it("are given to components as they are, and values stay as they are", () => {
    const Row = (_: { readonly name: string }) => null;
    expect(h(Row, { name: NAME }).props.name).to.equal(NAME);
    expect(childrenOf(h("pre", null, NAME))).to.equal(NAME);
    expect(childrenOf(h("span", { "data-value": true }, NAME))).to.equal(NAME);
  });
});
