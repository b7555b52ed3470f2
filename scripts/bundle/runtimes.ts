/** The oldest Node that runs the published packages. */

/**
 * A late Node 20: from here on it loads ESM from CommonJS. Syntax that it lacks is rewritten. Functions that it lacks are
 * type errors, because the declarations are compiled with the types of this Node (`types-node-20` in package.json).
 */
export const OLDEST_NODE = "20.19.0";
