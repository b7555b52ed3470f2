/** The program of a member, which the reader of a hint may have in three ways. */

/** Where `quoin-node` of a hint is, as a clause. */
export const WHERE_MEMBER_PROGRAM_IS =
  'quoin-node is in the image; with the npm package "quoin" it is "npx quoin member", in a checkout "npx node node/src/main.ts"';
