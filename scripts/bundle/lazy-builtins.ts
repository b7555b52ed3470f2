/**
 * An `import` of `node:http` evaluates all that the module exports, also Node's client of WebSockets, which takes 30 ms
 * of processor time. `require` does not, so a bundle gets the module by `require`.
 */
import type { Plugin } from "esbuild";

const NAMESPACE = "lazy-builtin";

export const lazyBuiltins: Plugin = {
  name: "lazy-builtins",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:http$/ }, ({ path, kind }) =>
      kind === "import-statement" ? { path, namespace: NAMESPACE } : undefined,
    );
    onLoad({ filter: /^/, namespace: NAMESPACE }, ({ path }) => ({ contents: `module.exports = require("${path}");` }));
  },
};
